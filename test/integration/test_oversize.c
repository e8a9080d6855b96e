/* Requests that the servers will not take: they drop the connection instead of answering, each time. */
#include "test/lib/fixture.h"

#include <string.h>

static void setup(void)
{
    static const char *const properties[] = {"jute.maxbuffer=20000", NULL};
    fixture_open(&(struct pdk__ensemble_options){.n = 1, .properties = properties});
}

static pdk_mutex *large_mutex(pdk_client *c, const char *path)
{
    static char large[40000];
    pdk_lock_options *o = pdk_lock_options_new();
    pdk_mutex *m;
    memset(large, 'x', sizeof large);
    CHECK(o != NULL);
    CHECK_RC(pdk_lock_options_set_data(o, large, sizeof large), 0);
    CHECK_RC(pdk_mutex_new(&m, c, path, o), 0);
    pdk_lock_options_free(o);
    return m;
}

static void refused(void)
{
    const char *path = fixture_path(), *other = fixture_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = large_mutex(c, path), *n = fixture_mutex(c, other);
    int64_t session = pdk_client_session_id(c);
    char text[600];
    CHECK_RC(pdk_mutex_lock(m), PDK_EREFUSED);
    pdk_lock_last_error(m, text, sizeof text);
    if (strstr(text, "the servers refuse the request: each create of its node ended the connection") == NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", text);
    CHECK(fixture_children(path) <= 0);
    CHECK_RC(pdk_mutex_lock(n), 0);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_EQ(pdk_client_session_id(c), session);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
}

/* Each try costs all of them the connection; they have their locks all the same. */
static void others_stand(void)
{
    const char *path = fixture_path(), *other = fixture_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = large_mutex(c, path), *n = fixture_mutex(c, other);
    int64_t before, after;
    CHECK_RC(pdk_mutex_lock(n), 0);
    CHECK_RC(pdk_lock_token(n, &before, NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), PDK_EREFUSED);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(n) == PDK_HELD);
    CHECK_RC(pdk_lock_token(n, &after, NULL), 0);
    CHECK_EQ(before, after);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_EQ(fixture_children(other), 0);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
}

static void given_up(void)
{
    const char *path = fixture_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = large_mutex(c, path), *n = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_timedlock(m, 20), PDK_ETIMEDOUT);
    CHECK_RC(pdk_mutex_timedlock(n, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a request over the servers' limit is given up, and nothing is left", refused},
        {"the other locks of the client outlast it", others_stand},
        {"a caller that leaves it early leaves nothing", given_up},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "oversize", .tests = tests, .setup = setup, .teardown = fixture_close});
}
