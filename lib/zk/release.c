#include "lib/zk/release.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/account.h"
#include "lib/zk/session_driver.h"

void pdk__release_begin(struct pdk_client *c, struct pdk__release *release)
{
    assert(pdk__client_locked(c));
    if (release->number != 0)
        return;
    release->number = ++c->releases.n;
    pdk__list_append(&c->releases.list, &release->link);
}

void pdk__release_end(struct pdk_client *c, struct pdk__release *release)
{
    assert(pdk__client_locked(c));
    if (release->number == 0)
        return;
    pdk__list_remove(&release->link);
    release->number = 0;
    if (c->releases.n_flushing > 0)
        pthread_cond_broadcast(&c->changed);
}

/* --- the barrier -------------------------------------------------------------------------------------------------- */

/* Is a release of that number, or an earlier one, under way? */
static bool under_way(const struct pdk_client *c, uint64_t number)
{
    if (pdk__list_empty(&c->releases.list))
        return false;
    return PDK__MEMBER(c->releases.list.next, struct pdk__release, link)->number <= number;
}

static void cancelled(void *arg)
{
    struct pdk_client *c = arg;
    c->releases.n_flushing--;
    pdk__client_leave(c);
}

/* A session that is over has no nodes, so its end is no error here. */
static int await(struct pdk_client *c, int64_t deadline_ms)
{
    uint64_t number = c->releases.n;
    int rc = pdk__client_may_wait(c);
    while (rc != PDK_EDEADLK && rc != PDK_ECLOSED && under_way(c, number)) {
        if (pdk__now_ms() >= deadline_ms)
            return PDK_ETIMEDOUT;
        pdk__client_await(c, &c->changed, deadline_ms, true);
        rc = pdk__client_may_wait(c);
    }
    return rc == PDK_EDEADLK || rc == PDK_ECLOSED ? rc : 0;
}

int pdk_client_flush(pdk_client *c, int64_t timeout_ms)
{
    if (c == NULL)
        return PDK_EINVAL;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    pdk__client_refresh(c);
    c->releases.n_flushing++;
    pthread_cleanup_push(cancelled, c);
    rc = await(c, deadline_ms);
    pdk__client_end(c, "flush", "the releases", rc);
    pthread_cleanup_pop(1);
    return rc;
}
