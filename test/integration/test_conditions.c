/* Grants that take more than to be the first. */
#include "test/integration/ground.h"

static pdk_client *c;
static const char *path;

static void setup(void) { ground_open(NULL); }

static pdk_mutex_options *begin(void)
{
    pdk__proxy_clear(ground.proxy);
    path = ground_path();
    c = ground_client(NULL);
    pdk_mutex_options *o = pdk_mutex_options_new();
    CHECK(o != NULL);
    return o;
}

/* OPTIONS are freed. */
static pdk_mutex *mutex_with(pdk_mutex_options *o)
{
    pdk_mutex *m;
    CHECK_RC(pdk_mutex_new(&m, c, path, o), 0);
    pdk_mutex_options_free(o);
    return m;
}

/* --- a least token ----------------------------------------------------------------------------------------------- */

static void min_token(void)
{
    pdk_mutex_options *o = begin();
    int64_t seen, token;
    pdk_mutex *m = ground_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_token(m, &seen), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_free(m), 0);
    CHECK_RC(pdk_mutex_options_set_min_token(o, seen + 1), 0);
    m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_token(m, &token), 0);
    CHECK(token > seen);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
}

static void stale(void)
{
    pdk_mutex_options *o = begin();
    CHECK_RC(pdk_mutex_options_set_min_token(o, INT64_MAX), 0);
    pdk_mutex *m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), PDK_ESTALE);
    CHECK_RC(pdk_mutex_trylock(m), PDK_ESTALE);
    CHECK_EQ(pdk_mutex_state(m), PDK_FREE);
    CHECK_WITHIN(PATIENCE_MS, ground_children(path) == 0);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    ground_end(c, m);
}

static void nonsense(void)
{
    pdk_mutex_options *o = begin();
    CHECK_RC(pdk_mutex_options_set_min_token(o, -1), PDK_EINVAL);
    CHECK_RC(pdk_mutex_options_set_min_token(NULL, 1), PDK_EINVAL);
    pdk_mutex *m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a token that comes up to the least is granted", min_token},
        {"a token below the least is refused, and leaves no node", stale},
        {"what no token can be is refused as an option", nonsense},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "conditions", .tests = tests, .setup = setup, .teardown = ground_close});
}
