/* ZooKeeper's error codes, row by row: what a reply with each code means for the request. */
#include "lib/zk/code.h"
#include "test/lib/check.h"
#include <paddock/error.h>
#include <zookeeper/zookeeper.h>

static void expect(const char *name, int code, enum pdk__meaning meaning, enum pdk__outcome outcome, int error)
{
    pdk__test_eq(__FILE__, __LINE__, name, pdk__meaning_of(code), "meaning", meaning);
    pdk__test_eq(__FILE__, __LINE__, name, pdk__outcome_of(code), "outcome", outcome);
    pdk__test_rc(__FILE__, __LINE__, name, pdk__error_of(code), error);
}
#define EXPECT(code, meaning, outcome, error) expect(#code, code, meaning, outcome, error)

static void answers(void)
{
    EXPECT(ZOK, PDK__FINAL, PDK__OK, 0);
    EXPECT(ZNONODE, PDK__FINAL, PDK__NO_NODE, PDK_ENOENT);
    EXPECT(ZNOAUTH, PDK__FINAL, PDK__NO_AUTH, PDK_EACCES);
    EXPECT(ZBADVERSION, PDK__FINAL, PDK__CHANGED, PDK_EREFUSED);
}

static void refusals(void)
{
    EXPECT(ZINVALIDACL, PDK__FINAL, PDK__REFUSED, PDK_EACL);
    EXPECT(ZNODEEXISTS, PDK__FINAL, PDK__REFUSED, PDK_EEXHAUSTED);
    EXPECT(ZNOCHILDRENFOREPHEMERALS, PDK__FINAL, PDK__REFUSED, PDK_EPATH);
    EXPECT(ZBADARGUMENTS, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZSESSIONCLOSEDREQUIRESASLAUTH, PDK__FINAL, PDK__REFUSED, PDK_EAUTH);
    EXPECT(ZUNIMPLEMENTED, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZNOTEMPTY, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZEPHEMERALONLOCALSESSION, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZNOWATCHER, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZDATAINCONSISTENCY, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZAPIERROR, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZINVALIDCALLBACK, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZNEWCONFIGNOQUORUM, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZRECONFIGINPROGRESS, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(ZRECONFIGDISABLED, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(-125 /* a quota is exceeded */, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
    EXPECT(-1234 /* of a future server */, PDK__FINAL, PDK__REFUSED, PDK_EREFUSED);
}

static void unknown(void)
{
    static const int codes[] = {
        ZSYSTEMERROR,
        ZRUNTIMEINCONSISTENCY,
        ZCONNECTIONLOSS,
        ZMARSHALLINGERROR,
        ZOPERATIONTIMEOUT,
        ZINVALIDSTATE,
        ZSSLCONNECTIONERROR,
        ZSESSIONEXPIRED,
        ZAUTHFAILED,
        ZCLOSING,
        ZNOTHING,
        ZSESSIONMOVED,
        -12 /* no such session */,
        -122 /* not within the time allowed */,
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        expect(zerror(codes[i]), codes[i], PDK__UNSURE, PDK__UNKNOWN, PDK_EUNKNOWN);
}

static void not_executed(void)
{
    EXPECT(ZTHROTTLEDOP, PDK__NOT_DONE, PDK__UNKNOWN, PDK_EUNKNOWN);
    EXPECT(ZNOTREADONLY, PDK__NOT_DONE, PDK__UNKNOWN, PDK_EUNKNOWN);
}

static void check_words(int code, const char *words)
{
    char text[100];
    pdk__code_describe(code, text, sizeof text);
    CHECK_STR(text, words);
}

static void words(void)
{
    check_words(ZBADARGUMENTS, "bad arguments: a character of the path, or a kind of node that they do not have (-8)");
    check_words(ZUNIMPLEMENTED, "they do not have this kind of request (-6)");
    check_words(-125, "a quota is exceeded (-125)");
    check_words(ZNOCHILDRENFOREPHEMERALS, "a node above it is ephemeral (-108)");
    check_words(ZNOTEMPTY, "nodes are below it (-111)");
    check_words(-1234, "an unusual code (-1234)");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an answer is final", answers},
        {"a refusal is final, and so is a code that is not known", refusals},
        {"after a lost connection, or the end of a session, the outcome is unknown", unknown},
        {"a code has words", words},
        {"a request that was not executed is asked again", not_executed},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "code", .tests = tests});
}
