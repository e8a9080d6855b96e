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
    EXPECT(ZBADARGUMENTS, PDK__FINAL, PDK__REFUSED, PDK_EPATH);
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

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an answer is final", answers},
        {"a refusal is final, and so is a code that is not known", refusals},
        {"after a lost connection, or the end of a session, the outcome is unknown", unknown},
        {"a request that was not executed is asked again", not_executed},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "code", .tests = tests});
}
