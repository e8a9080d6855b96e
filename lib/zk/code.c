#include "lib/zk/code.h"
#include "paddock/error.h"
#include <stdio.h>
#include <zookeeper/zookeeper.h>

/* Codes of the servers that the client's header does not have. */
enum { UNKNOWN_SESSION = -12, REQUEST_TIMEOUT = -122, QUOTA_EXCEEDED = -125 };

struct row {
    int code;
    enum pdk__meaning meaning;
    enum pdk__outcome outcome;
    int error;
    const char *words; /* for people; NULL: there are none */
};

#define FINAL(code, outcome, error) FINAL_AS(code, outcome, error, NULL)
#define FINAL_AS(code, outcome, error, words)                                                                          \
    {                                                                                                                  \
        code, PDK__FINAL, outcome, error, words                                                                        \
    }
#define UNSURE(code)                                                                                                   \
    {                                                                                                                  \
        code, PDK__UNSURE, PDK__UNKNOWN, PDK_EUNKNOWN, NULL                                                            \
    }
#define NOT_DONE(code)                                                                                                 \
    {                                                                                                                  \
        code, PDK__NOT_DONE, PDK__UNKNOWN, PDK_EUNKNOWN, NULL                                                          \
    }

/*
 * Beside each row its source, in ZooKeeper 3.8.0; 3.9.3 to 3.9.5 send no other codes, and from the same places.
 * "Client": the C client makes the code, and no server sends it. A code that both make is as unsure as the client's.
 * "Unused": neither makes it.
 */
static const struct row rows[] = {
    FINAL(ZOK, PDK__OK, 0),
    UNSURE(ZSYSTEMERROR), /* client: out of memory. No server */
    UNSURE(
        ZRUNTIMEINCONSISTENCY), /* client: another request's reply; PrepRequestProcessor.pRequestHelper, multi only */
    FINAL(ZDATAINCONSISTENCY, PDK__REFUSED, PDK_EREFUSED), /* unused */
    UNSURE(ZCONNECTIONLOSS),                               /* client */
    UNSURE(ZMARSHALLINGERROR), /* client: an unreadable reply; FinalRequestProcessor.processRequest, any exception */
    /* PrepRequestProcessor.pRequest2Txn, UnimplementedRequestProcessor */
    FINAL_AS(ZUNIMPLEMENTED, PDK__REFUSED, PDK_EREFUSED, "they do not have this kind of request"),
    UNSURE(ZOPERATIONTIMEOUT), /* client: no reply in time; as unknown as a lost connection */
    /* client: a path, and pdk__path_valid() lets none of those pass; PrepRequestProcessor.validatePath,
     * .pRequest2Txn */
    FINAL_AS(ZBADARGUMENTS, PDK__REFUSED, PDK_EREFUSED,
             "bad arguments: a character of the path, or a kind of node that they do not have"),
    UNSURE(ZINVALIDSTATE),   /* client: the session is over */
    UNSURE(UNKNOWN_SESSION), /* SessionTrackerImpl.checkGlobalSession: the session is over */
    FINAL(ZNEWCONFIGNOQUORUM, PDK__REFUSED, PDK_EREFUSED),  /* PrepRequestProcessor.pRequest2Txn, reconfig only */
    FINAL(ZRECONFIGINPROGRESS, PDK__REFUSED, PDK_EREFUSED), /* PrepRequestProcessor.pRequest2Txn, reconfig only */
    UNSURE(ZSSLCONNECTIONERROR),                            /* client: of a connection */
    FINAL(ZAPIERROR, PDK__REFUSED, PDK_EREFUSED),           /* unused */
    FINAL(ZNONODE, PDK__NO_NODE, PDK_ENOENT),       /* PrepRequestProcessor.getRecordForPath, FinalRequestProcessor */
    FINAL(ZNOAUTH, PDK__NO_AUTH, PDK_EACCES),       /* ZooKeeperServer.checkACL */
    FINAL(ZBADVERSION, PDK__CHANGED, PDK_EREFUSED), /* PrepRequestProcessor.checkAndIncVersion */
    /* PrepRequestProcessor.pRequest2TxnCreate */
    FINAL_AS(ZNOCHILDRENFOREPHEMERALS, PDK__REFUSED, PDK_EPATH, "a node above it is ephemeral"),
    /* PrepRequestProcessor.pRequest2TxnCreate; of a sequential node: the counter sticks at its end (ZOOKEEPER-3249) */
    FINAL(ZNODEEXISTS, PDK__REFUSED, PDK_EEXHAUSTED),
    FINAL_AS(ZNOTEMPTY, PDK__REFUSED, PDK_EREFUSED,
             "nodes are below it"), /* PrepRequestProcessor.pRequest2Txn, delete */
    UNSURE(ZSESSIONEXPIRED),        /* client: in flight at the end; SessionTrackerImpl.checkSession */
    FINAL(ZINVALIDCALLBACK, PDK__REFUSED, PDK_EREFUSED), /* unused */
    FINAL(ZINVALIDACL, PDK__REFUSED, PDK_EACL),          /* PrepRequestProcessor.fixupACL */
    UNSURE(ZAUTHFAILED), /* client: in flight when ZooKeeperServer.processPacket refused the authentication */
    UNSURE(ZCLOSING),    /* client */
    UNSURE(ZNOTHING),    /* client, and of no request */
    /* SessionTrackerImpl.checkSession; FinalRequestProcessor.processRequest ends the connection instead of sending
     * it */
    UNSURE(ZSESSIONMOVED),
    NOT_DONE(ZNOTREADONLY), /* ReadOnlyRequestProcessor.run, before any other processor */
    FINAL_AS(ZEPHEMERALONLOCALSESSION, PDK__REFUSED, PDK_EREFUSED,
             "the session is a local one"),               /* QuorumZooKeeperServer.checkUpgradeSession */
    FINAL(ZNOWATCHER, PDK__REFUSED, PDK_EREFUSED),        /* FinalRequestProcessor.processRequest; client */
    UNSURE(REQUEST_TIMEOUT),                              /* ZooKeeper's Java client only */
    FINAL(ZRECONFIGDISABLED, PDK__REFUSED, PDK_EREFUSED), /* PrepRequestProcessor.pRequest2Txn, reconfig only */
    /* AuthenticationHelper.enforceAuthentication, ZooKeeperServer.processSasl: before the request is submitted */
    FINAL(ZSESSIONCLOSEDREQUIRESASLAUTH, PDK__REFUSED, PDK_EAUTH),
    FINAL_AS(QUOTA_EXCEEDED, PDK__REFUSED, PDK_EREFUSED, "a quota is exceeded"), /* ZooKeeperServer.checkQuota */
    /* RequestThrottler marks the request; PrepRequestProcessor.pRequest and FollowerRequestProcessor.run pass it by,
     * FinalRequestProcessor.processRequest answers it. No quorum has heard of it. */
    NOT_DONE(ZTHROTTLEDOP),
};

/* A code that a later server adds counts as a refusal: repeated requests might never end. */
static const struct row unheard_of = FINAL(0, PDK__REFUSED, PDK_EREFUSED);

static const struct row *find(int zrc)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == zrc)
            return &rows[i];
    return &unheard_of;
}

enum pdk__meaning pdk__meaning_of(int zrc) { return find(zrc)->meaning; }

enum pdk__outcome pdk__outcome_of(int zrc) { return find(zrc)->outcome; }

int pdk__error_of(int zrc) { return find(zrc)->error; }

void pdk__code_describe(int zrc, char *buf, size_t size)
{
    const char *words = find(zrc)->words;
    snprintf(buf, size, "%s (%d)", words != NULL ? words : "an unusual code", zrc);
}
