#include "test/docker/servers.h"
#include "server/words.h"
#include "test/lib/check.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/wait.h>
#include <zookeeper/zookeeper.h>

enum { N_SERVERS = 3, PORT = 2181, LOOK_MS = 60000, SESSION_MS = 10000, DIGITS = 10, BEAT_MS = 100 };

struct server {
    char host[48], name[16];
};

static struct server servers[N_SERVERS];

/* --- faults ------------------------------------------------------------------------------------------------------ */

const char *servers_env(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s is not set; docker/check sets it", name);
    return value;
}

const char *pdk__fault(const char *format, ...)
{
    static char line[256];
    char words[128], command[4096], rest[256];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    snprintf(command, sizeof command, "'%s' %s", servers_env("PADDOCK_FAULT"), words);
    FILE *f = popen(command, "re");
    CHECK(f != NULL);
    if (fgets(line, sizeof line, f) == NULL)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    while (fgets(rest, sizeof rest, f) != NULL)
        ;
    if (pclose(f) != 0)
        pdk__test_fail(__FILE__, __LINE__, "fault %s failed", words);
    return line;
}

/* --- servers ----------------------------------------------------------------------------------------------------- */

static void know(void)
{
    if (servers[0].name[0] != '\0')
        return;
    const char *at = servers_env("PADDOCK_TEST_HOSTS");
    for (int i = 0; i < N_SERVERS; i++) {
        size_t n = strcspn(at, ":");
        snprintf(servers[i].host, sizeof servers[i].host, "%.*s", (int)n, at);
        snprintf(servers[i].name, sizeof servers[i].name, "%s", pdk__fault("server %s:%d", servers[i].host, PORT));
        at += strcspn(at, ",");
        at += *at == ',';
    }
}

const char *servers_server_of(int64_t session)
{
    char text[65536], wanted[32];
    know();
    snprintf(wanted, sizeof wanted, "sid=0x%" PRIx64 ",", (uint64_t)session);
    for (int i = 0; i < N_SERVERS; i++)
        if (pdk__server_4lw(servers[i].host, PORT, "cons", text, sizeof text) > 0 && strstr(text, wanted) != NULL)
            return servers[i].name;
    return "";
}

static bool says(const char *name, const char *line)
{
    char text[4096];
    know();
    for (int i = 0; i < N_SERVERS; i++)
        if (strcmp(servers[i].name, name) == 0)
            return pdk__server_4lw(servers[i].host, PORT, "srvr", text, sizeof text) > 0 && strstr(text, line) != NULL;
    pdk__test_fail(__FILE__, __LINE__, "no server %s", name);
}

bool servers_serves(const char *name) { return says(name, "\nMode: "); }

bool servers_follows(const char *name) { return says(name, "\nMode: follower\n"); }

void servers_hosts(const char *name, bool itself, char *hosts, size_t size)
{
    size_t n = 0;
    know();
    hosts[0] = '\0';
    for (int i = 0; i < N_SERVERS && n < size; i++)
        if ((strcmp(servers[i].name, name) == 0) == itself)
            n += (size_t)snprintf(hosts + n, size - n, "%s%s:%d", n > 0 ? "," : "", servers[i].host, PORT);
    CHECK(n > 0 && n < size);
}

/* --- the beat ---------------------------------------------------------------------------------------------------- */

static pid_t beat;

static void ignore_event(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    (void)zh, (void)type, (void)state, (void)path, (void)arg;
}

static zhandle_t *open_handle(const char *hosts)
{
    zhandle_t *zh = zookeeper_init(hosts, ignore_event, SESSION_MS, NULL, NULL, 0);
    CHECK(zh != NULL);
    zoo_set_servers_resolution_delay(zh, -1);
    return zh;
}

static noreturn void beat_on(void)
{
    static const char path[] = "/paddock-beat";
    zhandle_t *zh = open_handle(servers_env("PADDOCK_TEST_HOSTS"));
    for (;;) {
        int rc = zoo_set(zh, path, "", 0, -1);
        if (rc == ZNONODE)
            zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
        if (is_unrecoverable(zh) == ZINVALIDSTATE) {
            zookeeper_close(zh);
            zh = open_handle(servers_env("PADDOCK_TEST_HOSTS"));
        }
        poll(NULL, 0, BEAT_MS);
    }
}

void servers_beat(void)
{
    zoo_set_debug_level(0);
    beat = pdk__test_fork();
    if (beat == 0)
        beat_on();
    CHECK(beat > 0);
}

void servers_beat_stop(void)
{
    if (beat <= 0)
        return;
    kill(beat, SIGKILL);
    pdk__test_wait(beat);
}

/* --- the truth --------------------------------------------------------------------------------------------------- */

static void ignore_sync(int rc, const char *value, const void *arg) { (void)rc, (void)value, (void)arg; }

static const char *digits_of(const char *name)
{
    size_t n = strlen(name);
    return n >= DIGITS && strspn(name + n - DIGITS, "0123456789") == DIGITS ? name + n - DIGITS : NULL;
}

static int by_digits(const void *a, const void *b)
{
    return strcmp(digits_of(*(char *const *)a), digits_of(*(char *const *)b));
}

/* Names that are no contender's go to the end, and are not counted. */
static size_t put_in_order(struct String_vector *names)
{
    size_t n = 0;
    for (int i = 0; i < names->count; i++)
        if (digits_of(names->data[i]) != NULL) {
            char *name = names->data[i];
            names->data[i] = names->data[n];
            names->data[n++] = name;
        }
    qsort(names->data, n, sizeof *names->data, by_digits);
    return n;
}

static int describe(zhandle_t *zh, const char *path, char **names, size_t n, struct pdk__seen *seen, size_t *n_seen)
{
    char node[1024];
    for (size_t i = 0; i < n; i++) {
        struct Stat stat;
        snprintf(node, sizeof node, "%s/%s", path, names[i]);
        int rc = zoo_exists(zh, node, 0, &stat);
        if (rc != ZOK && rc != ZNONODE)
            return rc;
        if (rc == ZOK && *n_seen < SERVERS_SEEN_MAX)
            seen[(*n_seen)++] = (struct pdk__seen){stat.czxid, stat.ephemeralOwner};
    }
    return ZOK;
}

/* Sync first: only a server that has the leader's ear answers it, so what follows is not old. */
static bool ask(const char *host, const char *path, struct pdk__seen *seen, size_t *n_seen)
{
    char address[256];
    struct String_vector names;
    snprintf(address, sizeof address, "%s:%d", host, PORT);
    zhandle_t *zh = open_handle(address);
    *n_seen = 0;
    int rc = zoo_async(zh, path, ignore_sync, NULL);
    if (rc == ZOK)
        rc = zoo_get_children(zh, path, 0, &names);
    bool answered = rc == ZNONODE;
    if (rc == ZOK) {
        answered = describe(zh, path, names.data, put_in_order(&names), seen, n_seen) == ZOK;
        deallocate_String_vector(&names);
    }
    zookeeper_close(zh);
    return answered;
}

size_t servers_look(const char *path, struct pdk__seen seen[static SERVERS_SEEN_MAX])
{
    int64_t until = pdk__test_now_ms() + LOOK_MS;
    size_t n;
    know();
    while (pdk__test_now_ms() < until)
        for (int i = 0; i < N_SERVERS; i++)
            if (servers_serves(servers[i].name) && ask(servers[i].host, path, seen, &n))
                return n;
    pdk__test_fail(__FILE__, __LINE__, "no server says what is under %s", path);
}
