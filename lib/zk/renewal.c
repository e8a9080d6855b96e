#include "lib/zk/renewal.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/member.h"
#include "lib/zk/request.h"

static struct pdk__request *begin(struct pdk_client *c, bool writes)
{
    struct pdk__request *r = pdk__request_begin(c, sizeof *r, pdk__request_end);
    if (r == NULL)
        return NULL;
    assert(c->session.phase == PDK__SESSION_CONNECTED);
    r->writes = writes;
    r->asked = true;
    return r;
}

static void answered(int zrc, const void *data)
{
    struct pdk__request *r = (struct pdk__request *)data;
    struct pdk_client *c = pdk__request_arrive(r, zrc);
    pdk__request_end(r);
    pdk__request_depart(c);
}

static void answered_stat(int zrc, const struct Stat *stat, const void *data)
{
    (void)stat;
    answered(zrc, data);
}

static void answered_string(int zrc, const char *value, const void *data)
{
    (void)value;
    answered(zrc, data);
}

/* A delete of a node that no contender makes: one of ours without its sequence number. A quorum refuses it, like any
 * write that is agreed on, and the server logs it as an error. It changes nothing and fires no watch. Where a hostile
 * client has made that node, it is deleted; or refused for its child, which is agreed on as well. A multi with one
 * check of our node would do, but can abort the process. Where the handle has a chroot and its session expires in
 * that moment, zoo_amulti frees a path twice. A set of the node needs a permission that its owner may not have. */
static int write(struct pdk_client *c, struct pdk__request *r)
{
    r->path = pdk__members_vacant_path(c);
    return r->path != NULL ? zoo_adelete(c->zh, r->path, -1, answered, r) : ZSYSTEMERROR;
}

static void note_sent(struct pdk_client *c, struct pdk__request *r, int zrc)
{
    assert(pdk__client_locked(c));
    if (zrc == ZOK)
        return;
    if (r != NULL)
        pdk__request_end(r);
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_UNASKED, .now_ms = pdk__now_ms()});
}

void pdk__renewal_write(struct pdk_client *c)
{
    struct pdk__request *r = begin(c, true);
    note_sent(c, r, r != NULL ? write(c, r) : ZSYSTEMERROR);
}

void pdk__renewal_sync(struct pdk_client *c)
{
    struct pdk__request *r = begin(c, false);
    if (r != NULL)
        r->syncs = true;
    note_sent(c, r, r != NULL ? zoo_async(c->zh, "/", answered_string, r) : ZSYSTEMERROR);
}

void pdk__renewal_read(struct pdk_client *c)
{
    struct pdk__request *r = begin(c, false);
    note_sent(c, r, r != NULL ? zoo_aexists(c->zh, "/", 0, answered_stat, r) : ZSYSTEMERROR);
}
