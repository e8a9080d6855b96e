#include "test/lib/ensemble.h"

#include "test/lib/check.h"
#include "test/lib/secure.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READY_MS = 90000 };

/* --- starting ---------------------------------------------------------------------------------------------------- */

static void make_links(pdk__ensemble *e, int i, struct pdk__server_options *o)
{
    for (int j = 0; j < e->n; j++) {
        if (i == j)
            continue;
        e->link[i][j] = pdk__proxy_new(o->peers[j].quorum_port, true);
        o->peers[j].quorum_port = pdk__proxy_port(e->link[i][j]);
    }
}

/* Start all servers before waiting for any: a server of an ensemble never serves alone. */
static bool start(pdk__ensemble *e, const struct pdk__ensemble_options *o)
{
    struct pdk__server_options all = {.tick_ms = o->tick_ms > 0 ? o->tick_ms : 200,
                                      .min_session_ms = o->min_session_ms,
                                      .init_limit = 50,
                                      .sync_limit = o->sync_limit,
                                      .properties = o->properties,
                                      .n_peers = e->n};
    for (int i = 0; i < e->n; i++)
        all.peers[i] = (struct pdk__server_peer){pdk__server_free_port(), pdk__server_free_port()};
    for (int i = 0; i < e->n; i++) {
        struct pdk__server_options mine = all;
        mine.id = e->n > 1 ? i + 1 : 0;
        if (o->links)
            make_links(e, i, &mine);
        if (pdk__server_new(&e->server[i], &mine) != 0 || pdk__server_start(e->server[i]) != 0)
            return false;
    }
    for (int i = 0; i < e->n; i++)
        if (pdk__server_wait_ready(e->server[i], READY_MS) != 0)
            return false;
    return true;
}

static void stop(pdk__ensemble *e)
{
    for (int i = 0; i < e->n; i++) {
        pdk__server_free(e->server[i]);
        pdk__proxy_free(e->relay[i]);
        e->server[i] = NULL;
        e->relay[i] = NULL;
        for (int j = 0; j < e->n; j++) {
            pdk__proxy_free(e->link[i][j]);
            e->link[i][j] = NULL;
        }
    }
}

static bool name_server(const char **names, char address[64], int *port)
{
    int used = 0;
    if (sscanf(*names, "%63[^:,]:%d%n", address, port, &used) != 2)
        return false;
    *names += used + ((*names)[used] == ',');
    return true;
}

/* The servers that PADDOCK_TEST_HOSTS names; NULL when it names none. */
static const char *others(const struct pdk__ensemble_options *o)
{
    char address[64];
    int port, n = 0;
    const char *names = getenv("PADDOCK_TEST_HOSTS");
    if (names == NULL || *names == '\0')
        return NULL;
    if (o->own || o->links || o->properties != NULL)
        SKIP("it needs servers of its own");
    for (const char *at = names; name_server(&at, address, &port);)
        n++;
    if (n < o->n)
        SKIP("it needs more servers than PADDOCK_TEST_HOSTS names");
    return names;
}

/* Each of these servers gets a local port, so that the rest of the harness need not tell them apart. */
static void borrow(pdk__ensemble *e, const char *names)
{
    char address[64];
    int port;
    for (int i = 0; i < e->n && name_server(&names, address, &port); i++) {
        e->relay[i] = pdk__proxy_new_to(address, port, true);
        CHECK_EQ(pdk__server_attach(&e->server[i], pdk__proxy_port(e->relay[i])), 0);
    }
    pdk__ensemble_leader(e, e->n);
}

static void add_address(char *list, char address[32], pdk__proxy *p)
{
    snprintf(address, 32, "127.0.0.1:%d", pdk__proxy_port(p));
    strcat(strcat(list, *list != '\0' ? "," : ""), address);
}

static void introduce(pdk__ensemble *e, bool quiet)
{
    for (int i = 0; i < e->n; i++) {
        e->proxy[i] = pdk__proxy_new(pdk__server_port(e->server[i]), e->secure);
        e->door[i] = pdk__proxy_new(pdk__server_port(e->server[i]), false);
        add_address(e->hosts, e->address[i], e->proxy[i]);
        add_address(e->behind_all, e->behind[i], e->door[i]);
    }
    if (e->n > 1 && !quiet)
        e->beat = pdk__beat_new(e->behind_all);
}

/* Another process can take a port between our choice and the server's bind. Then everything is created again. */
static void make(pdk__ensemble *e, const struct pdk__ensemble_options *o)
{
    for (int tries = 0; !start(e, o); tries++) {
        stop(e);
        if (tries == 2)
            pdk__test_fail(__FILE__, __LINE__, "%s", pdk__server_error());
    }
}

pdk__ensemble *pdk__ensemble_new(const struct pdk__ensemble_options *o)
{
    const char *names = others(o);
    pdk__ensemble *e = calloc(1, sizeof *e);
    CHECK(e != NULL);
    e->n = o->n > 0 ? o->n : 1;
    if (names != NULL)
        borrow(e, names);
    else
        make(e, o);
    e->secure = names != NULL && pdk__speaks_tls();
    introduce(e, o->quiet);
    return e;
}

void pdk__ensemble_free(pdk__ensemble *e)
{
    if (e == NULL)
        return;
    pdk__beat_free(e->beat);
    for (int i = 0; i < e->n; i++) {
        pdk__proxy_free(e->proxy[i]);
        pdk__proxy_free(e->door[i]);
    }
    stop(e);
    free(e);
}

/* --- running ----------------------------------------------------------------------------------------------------- */

static void admit(pdk__ensemble *e, int i, bool clients)
{
    pdk__proxy_refuse(e->proxy[i], !clients);
    pdk__proxy_refuse(e->door[i], !clients);
}

static void start_closed(pdk__ensemble *e, int i)
{
    admit(e, i, false);
    if (pdk__server_start(e->server[i]) != 0)
        pdk__test_fail(__FILE__, __LINE__, "server %d: %s", i, pdk__server_error());
}

static void await_session(pdk__ensemble *e, int i)
{
    if (pdk__server_wait_ready(e->server[i], READY_MS) != 0)
        pdk__test_fail(__FILE__, __LINE__, "server %d: %s", i, pdk__server_error());
}

void pdk__ensemble_restart(pdk__ensemble *e, int i)
{
    start_closed(e, i);
    await_session(e, i);
    admit(e, i, true);
}

static int find_leader(const pdk__ensemble *e, int n_running)
{
    int leader = -1, n_serving = 0;
    for (int i = 0; i < e->n; i++) {
        pdk__server_role role = pdk__server_running(e->server[i]) ? pdk__server_ask_role(e->server[i]) : 0;
        n_serving += role != PDK__SERVER_NONE;
        if (role == PDK__SERVER_LEADER || (e->n == 1 && role != PDK__SERVER_NONE))
            leader = i;
    }
    return n_serving >= n_running ? leader : -1;
}

int pdk__ensemble_leader(pdk__ensemble *e, int n_running)
{
    int leader;
    CHECK_WITHIN(READY_MS, (leader = find_leader(e, n_running)) >= 0);
    return leader;
}

void pdk__ensemble_heal(pdk__ensemble *e)
{
    for (int i = 0; i < e->n; i++)
        for (int j = 0; j < e->n; j++)
            if (e->link[i][j] != NULL)
                pdk__proxy_clear(e->link[i][j]);
    for (int i = 0; i < e->n; i++) {
        pdk__server_resume(e->server[i]);
        if (!pdk__server_running(e->server[i]))
            start_closed(e, i);
    }
    for (int i = 0; i < e->n; i++) {
        await_session(e, i);
        pdk__proxy_clear(e->proxy[i]);
        admit(e, i, true);
    }
    pdk__ensemble_leader(e, e->n);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

enum { ANSWER_SIZE = 1 << 20 };

/* The caller frees. A server on a full machine may not answer in time: it is asked again. */
static char *ask(const pdk__server *s, const char *word)
{
    char *text = malloc(ANSWER_SIZE);
    int got = -1;
    CHECK(text != NULL);
    for (int i = 0; i < 3 && got < 0; i++)
        got = pdk__server_4lw("127.0.0.1", pdk__server_port(s), word, text, ANSWER_SIZE);
    if (got < 0)
        text[0] = '\0';
    return text;
}

long pdk__ask_number(const pdk__server *s, const char *name)
{
    char *text = ask(s, "mntr");
    long number = -1;
    size_t n = strlen(name);
    for (char *line = text; line != NULL; line = (line = strchr(line, '\n')) != NULL ? line + 1 : NULL)
        if (strncmp(line, name, n) == 0 && line[n] == '\t')
            number = strtol(line + n + 1, NULL, 10);
    free(text);
    return (long)pdk__test_saw(name, number);
}

/* The number of lines after the line TITLE that begin with a tab, as in the answers to "wchp" and "dump"; WANTED NULL:
 * all of them, else those that have just that behind it. */
static int count_under(const pdk__server *s, const char *word, const char *title, const char *wanted)
{
    char *text = ask(s, word), *rest = text, *line;
    bool in = false;
    int count = 0;
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (*line == '\t')
            count += in && (wanted == NULL || strcmp(line + 1, wanted) == 0);
        else
            in = strcmp(line, title) == 0;
    }
    free(text);
    return (int)pdk__test_saw(word, count);
}

int pdk__ask_watchers(const pdk__server *s, const char *path) { return count_under(s, "wchp", path, NULL); }

bool pdk__ask_watches(const pdk__server *s, const char *path, long long session)
{
    char line[32];
    snprintf(line, sizeof line, "0x%llx", session);
    return count_under(s, "wchp", path, line) == 1;
}

int pdk__ask_ephemerals(const pdk__server *s, long long session)
{
    char title[32];
    snprintf(title, sizeof title, "0x%llx:", session);
    return count_under(s, "dump", title, NULL);
}

int pdk__ask_connections(const pdk__server *s)
{
    char *text = ask(s, "cons");
    int count = 0;
    for (const char *at = text; (at = strstr(at, "sid=0x")) != NULL; at++)
        count++;
    free(text);
    return (int)pdk__test_saw("connections", count);
}
