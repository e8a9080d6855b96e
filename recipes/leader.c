#include "recipes/leader.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/identity.h"
#include <stdio.h>
#include <string.h>

enum { ID_MAX = 65536 };

/* --- options ----------------------------------------------------------------------------------------------------- */

pdk_leader_options *pdk_leader_options_new(void) { return pdk__alloc(sizeof(pdk_leader_options)); }

void pdk_leader_options_free(pdk_leader_options *o)
{
    if (o == NULL)
        return;
    pdk__free(o->id);
    pdk__free(o);
}

int pdk_leader_options_set_id(pdk_leader_options *o, const char *id)
{
    if (o == NULL || id == NULL || strlen(id) > ID_MAX)
        return PDK_EINVAL;
    char *copy = pdk__strdup(id);
    if (copy == NULL)
        return PDK_ENOMEM;
    pdk__free(o->id);
    o->id = copy;
    return 0;
}

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk_leader *leader_of(struct pdk__changes *changes)
{
    return PDK__MEMBER(changes, struct pdk_leader, changes);
}

static void call(struct pdk__changes *changes, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_leader_cb)cb)(leader_of(changes), (pdk_leader_change)change->what, change->token, arg);
}

static void hold(struct pdk__changes *changes) { leader_of(changes)->refs++; }

static void let_go(struct pdk__changes *changes) { pdk__leader_unref(leader_of(changes)); }

static const struct pdk__changes_owner owner = {call, hold, let_go};

static char *default_id(void)
{
    struct pdk__identity identity;
    char id[PDK__HOST_MAX + 32];
    pdk__identity_own(&identity, "");
    snprintf(id, sizeof id, "%s:%lld", identity.host, (long long)identity.pid);
    return pdk__strdup(id);
}

static void destroy(struct pdk_leader *l)
{
    pdk__free(l->id);
    pdk__free(l->path);
    pdk__free(l);
}

static int make(struct pdk_leader **out, pdk_client *c, const char *path, const pdk_leader_options *opts)
{
    struct pdk_leader *l = pdk__alloc(sizeof *l);
    if (l == NULL)
        return PDK_ENOMEM;
    l->path = pdk__strdup(path);
    l->id = opts != NULL && opts->id != NULL ? pdk__strdup(opts->id) : default_id();
    int rc = l->path != NULL && l->id != NULL ? pdk__cond_init(&l->news) : PDK_ENOMEM;
    if (rc != 0) {
        destroy(l);
        return rc;
    }
    l->client = c;
    l->number = pdk__incident_object();
    l->refs = 1;
    pdk__changes_init(&l->changes, c, &owner);
    pdk__candidacy_init(l);
    pdk__client_ref(c);
    *out = l;
    return 0;
}

int pdk_leader_new(pdk_leader **out, pdk_client *c, const char *path, const pdk_leader_options *opts)
{
    if (out == NULL || c == NULL || path == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(path))
        return PDK_EPATH;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    rc = c->closing ? PDK_ECLOSED : make(out, c, path, opts);
    pdk__client_end(c, "make a leader for", path, rc);
    pdk__client_leave(c);
    return rc;
}

/* With the lock of a client that the caller, too, holds by a reference. */
void pdk__leader_unref(struct pdk_leader *l)
{
    if (--l->refs > 0)
        return;
    pdk__client_unref(l->client);
    pthread_cond_destroy(&l->news);
    destroy(l);
}

/* --- incidents --------------------------------------------------------------------------------------------------- */

int pdk__leader_incident(struct pdk_leader *l, const char *verb, int rc)
{
    char why[PDK__REASON_MAX];
    pdk__account_error(l->client, rc, why, sizeof why);
    bool claim_knows = why[0] == '\0' && l->claim.client != NULL;
    pdk__incident_format(l->error, verb, l->path, rc, claim_knows ? l->claim.standing.why : why);
    return rc;
}

static void describe_timeout(struct pdk_leader *l, char why[PDK__REASON_MAX])
{
    if (l->claimed)
        pdk__account_situation(&l->claim, why, PDK__REASON_MAX);
    else
        pdk__account_connection(l->client, why, PDK__REASON_MAX);
}

/* A call ends, with RC. The end of the candidacy was reported without a call, and is the reason why this one fails. */
static int note(struct pdk_leader *l, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX], why[PDK__REASON_MAX] = "";
    pdk__incident_clear(l->number);
    if (rc == 0 || (rc == l->result && l->error[0] != '\0'))
        return rc;
    if (rc == PDK_ETIMEDOUT)
        describe_timeout(l, why);
    else
        pdk__account_error(l->client, rc, why, sizeof why);
    pdk__incident_format(text, verb, l->path, rc, why);
    pdk__incident_note(l->number, text);
    return rc;
}

/* As in mutex.c: the known state is updated first, and the object stays until the verb has left. */
static int enter(pdk_leader *l)
{
    int rc = l != NULL ? pdk__client_enter(l->client) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    l->refs++;
    pdk__client_heed(l->client);
    return 0;
}

static void leave(pdk_leader *l)
{
    struct pdk_client *c = l->client;
    pdk__client_ref(c);
    pdk__leader_unref(l);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

int pdk_leader_free(pdk_leader *l)
{
    if (l == NULL)
        return 0;
    int rc = enter(l);
    if (rc != 0)
        return rc;
    pdk__changes_end(&l->changes);
    pdk__candidacy_end(l);
    pdk__leader_unref(l);
    leave(l);
    return 0;
}

/* --- stand and resign -------------------------------------------------------------------------------------------- */

int pdk_leader_start(pdk_leader *l)
{
    int rc = enter(l);
    if (rc != 0)
        return rc;
    if (l->state == PDK_LEADER_IDLE)
        rc = pdk__candidacy_start(l);
    note(l, "stand", rc);
    leave(l);
    return rc;
}

static int resign(struct pdk_leader *l)
{
    struct pdk_client *c = l->client;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    unsigned before = l->n_done; /* another thread may start a candidacy again */
    pdk__candidacy_end(l);
    while (l->claimed && l->n_done == before && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &l->news, deadline_ms, false);
    if (l->claimed && l->n_done == before)
        return PDK_EUNKNOWN;
    return l->release_result;
}

int pdk_leader_resign(pdk_leader *l)
{
    int rc = enter(l);
    if (rc != 0)
        return rc;
    if (l->claimed || l->state != PDK_LEADER_IDLE)
        rc = pdk__client_may_wait(l->client);
    if (rc == 0 && l->claimed)
        rc = resign(l);
    note(l, "resign", rc);
    leave(l);
    return rc;
}

int pdk_leader_resign_async(pdk_leader *l, pdk_resign_cb cb, void *arg)
{
    int rc = enter(l);
    if (rc != 0)
        return rc;
    if (l->resigned_pending) {
        rc = PDK_EBUSY;
    } else if (l->client->closing && !l->claimed) {
        rc = PDK_ECLOSED;
    } else {
        if (cb != NULL)
            pdk__candidacy_expect(l, cb, arg);
        pdk__candidacy_end(l);
    }
    note(l, "resign", rc);
    leave(l);
    return rc;
}

/* --- wait -------------------------------------------------------------------------------------------------------- */

static void cancelled(void *arg) { leave(arg); }

/* 0 when it leads, 1 when it may yet, or the error for which it never will. The caller may be woken long after an
 * election, so the passing of time is processed first. */
static int outlook(const struct pdk_leader *l)
{
    pdk__client_heed(l->client);
    if (l->state == PDK_LEADER_LEADING)
        return 0;
    if (l->state != PDK_LEADER_IDLE)
        return 1;
    return l->result != 0 ? l->result : PDK_EPERM;
}

static int await(struct pdk_leader *l, int64_t deadline_ms)
{
    struct pdk_client *c = l->client;
    int rc;
    pthread_cleanup_push(cancelled, l);
    while ((rc = outlook(l)) == 1 && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &l->news, deadline_ms, true);
    pthread_cleanup_pop(0);
    return rc == 1 ? PDK_ETIMEDOUT : rc;
}

int pdk_leader_wait(pdk_leader *l, int64_t timeout_ms)
{
    int rc = enter(l);
    if (rc != 0)
        return rc;
    rc = timeout_ms != 0 && outlook(l) == 1 ? pdk__client_may_wait(l->client) : 0;
    if (rc == 0)
        rc = await(l, pdk__deadline_ms(pdk__now_ms(), timeout_ms));
    note(l, "wait", rc);
    leave(l);
    return rc;
}

/* --- questions --------------------------------------------------------------------------------------------------- */

pdk_leadership pdk_leader_state(pdk_leader *l)
{
    if (enter(l) != 0)
        return PDK_LEADER_IDLE;
    pdk_leadership state = l->state;
    leave(l);
    return state;
}

static int64_t left_ms(const struct pdk_leader *l)
{
    int64_t left = pdk__session_deadline_ms(&l->client->session) - pdk__now_ms();
    return left > 0 ? left : 0;
}

bool pdk_leader_is_leader(pdk_leader *l)
{
    if (enter(l) != 0)
        return false;
    bool leads = l->state == PDK_LEADER_LEADING && left_ms(l) > 0;
    leave(l);
    return leads;
}

int64_t pdk_leader_valid_ms(pdk_leader *l)
{
    if (enter(l) != 0)
        return 0;
    int64_t left = pdk__in_term(l) ? left_ms(l) : 0;
    leave(l);
    return left;
}

int pdk_leader_token(pdk_leader *l, int64_t *token)
{
    if (token == NULL)
        return PDK_EINVAL;
    int rc = enter(l);
    if (rc != 0)
        return rc;
    if (pdk__in_term(l))
        *token = l->token;
    else
        rc = PDK_EPERM;
    leave(l);
    return rc;
}

size_t pdk_leader_node(pdk_leader *l, char *buf, size_t size)
{
    if (enter(l) != 0)
        return pdk__incident_copy(buf, size, "");
    size_t length = pdk__incident_copy(buf, size, pdk__in_term(l) ? l->node : "");
    leave(l);
    return length;
}

size_t pdk_leader_last_error(pdk_leader *l, char *buf, size_t size)
{
    if (enter(l) != 0)
        return pdk__incident_copy(buf, size, "");
    const char *own = pdk__incident_text(l->number);
    size_t length = pdk__incident_copy(buf, size, own[0] != '\0' ? own : l->error);
    leave(l);
    return length;
}

int pdk_leader_ahead(pdk_leader *l, int64_t *ahead)
{
    if (ahead == NULL)
        return PDK_EINVAL;
    int rc = enter(l);
    if (rc != 0)
        return rc;
    bool waits = l->state == PDK_LEADER_STANDING && l->claimed;
    if (waits)
        *ahead = pdk__account_ahead(&l->claim);
    leave(l);
    return waits ? 0 : PDK_EPERM;
}

const char *pdk_leader_path(pdk_leader *l) { return l->path; }

pdk_client *pdk_leader_client(pdk_leader *l) { return l->client; }

void pdk_leader_set_user(pdk_leader *l, void *user) { l->user = user; }

void *pdk_leader_user(pdk_leader *l) { return l->user; }

/* --- changes ----------------------------------------------------------------------------------------------------- */

int pdk_leader_on_change(pdk_leader *l, pdk_leader_cb cb, void *arg)
{
    int rc = enter(l);
    if (rc != 0)
        return rc;
    pdk__changes_call(&l->changes, (pdk__change_cb *)cb, arg);
    leave(l);
    return 0;
}

int pdk_leader_fd(pdk_leader *l)
{
    int rc = enter(l);
    if (rc != 0)
        return rc;
    rc = pdk__changes_fd(&l->changes);
    leave(l);
    return rc;
}

int pdk_leader_next_change(pdk_leader *l, pdk_leader_change *change, int64_t *token)
{
    struct pdk__change next;
    if (change == NULL)
        return PDK_EINVAL;
    int rc = enter(l);
    if (rc != 0)
        return rc;
    bool taken = pdk__changes_read(&l->changes, &next);
    leave(l);
    if (!taken)
        return 0;
    *change = (pdk_leader_change)next.what;
    if (token != NULL)
        *token = next.token;
    return 1;
}
