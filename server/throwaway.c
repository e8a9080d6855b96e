#include "server/throwaway.h"

#include "server/handshake.h"
#include "server/java.h"
#include "server/keeper.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SESSION_WAIT_MS = 2000 }; /* for the answer to one try */

struct pdk__server {
    struct pdk__server_options o; /* its strings are not valid after pdk__server_new() */
    struct pdk__keeper keeper;
    bool port_is_ours; /* we may change it until a client knows it */
    bool is_foreign;
    int held[3]; /* they keep its ports while it is down, too; -1: not held */
    char data[PATH_MAX];
    char log[PATH_MAX];
};

/* --- making one -------------------------------------------------------------------------------------------------- */

static void fill(struct pdk__server_options *o)
{
    o->tick_ms = o->tick_ms > 0 ? o->tick_ms : 500;
    o->min_session_ms = o->min_session_ms > 0 ? o->min_session_ms : 2 * o->tick_ms;
    if (o->max_session_ms <= 0)
        o->max_session_ms = o->min_session_ms > 600000 ? o->min_session_ms : 600000;
    o->init_limit = o->init_limit > 0 ? o->init_limit : 40;
    o->sync_limit = o->sync_limit > 0 ? o->sync_limit : 10;
    o->heap_mb = o->heap_mb > 0 ? o->heap_mb : 128;
    o->durable = o->durable || o->data_dir != NULL;
}

/* The server reads NAME from a file of properties, which has signs of its own, in Latin-1. */
static bool is_plain(const char *name)
{
    for (; *name != '\0'; name++)
        if (*name < ' ' || *name > '~' || *name == '\\')
            return false;
    return true;
}

/* As Java writes a name. */
static void squeeze_slashes(char *name)
{
    char *to = name;
    for (const char *from = name; *from != '\0'; from++)
        if (*from != '/' || (from[1] != '/' && (from[1] != '\0' || to == name)))
            *to++ = *from;
    *to = '\0';
}

/* The server has another working directory than ours: absolute names. */
static int place(pdk__server *s, const struct pdk__server_options *o)
{
    struct stat st;
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) == NULL)
        return pdk__server_fail("no working directory: %s", strerror(errno));
    const char *data = o->data_dir != NULL ? o->data_dir : "data";
    const char *log = o->log_file != NULL ? o->log_file : "/dev/null";
    const char *base = o->data_dir != NULL ? here : s->keeper.dir;
    int n = snprintf(s->data, sizeof s->data, "%s%s%s", *data == '/' ? "" : base, *data == '/' ? "" : "/", data);
    int m = snprintf(s->log, sizeof s->log, "%s%s%s", *log == '/' ? "" : here, *log == '/' ? "" : "/", log);
    if (n >= (int)sizeof s->data || m >= (int)sizeof s->log || strchr(s->log, '\n') != NULL)
        return pdk__server_fail("no usable path: %s", n >= (int)sizeof s->data ? data : log);
    squeeze_slashes(s->data);
    if (!is_plain(s->data))
        return pdk__server_fail("Java would read another name than %s", s->data);
    if (mkdir(s->data, 0700) != 0 && errno != EEXIST)
        return pdk__server_fail("cannot make %s: %s", s->data, strerror(errno));
    if (stat(s->data, &st) == 0 && !S_ISDIR(st.st_mode))
        return pdk__server_fail("%s: %s", s->data, strerror(ENOTDIR));
    if (access(s->data, R_OK | W_OK | X_OK) != 0)
        return pdk__server_fail("cannot work in %s: %s", s->data, strerror(errno));
    return 0;
}

static void let_ports_go(pdk__server *s)
{
    for (int i = 0; i < 3; i++) {
        if (s->held[i] >= 0)
            close(s->held[i]);
        s->held[i] = -1;
    }
}

/* A port that cannot be held belongs to another process: the server will find out, and report it. */
static void hold_ports(pdk__server *s)
{
    let_ports_go(s);
    s->held[0] = pdk__server_hold_port(s->o.client_port);
    if (s->o.id == 0)
        return;
    s->held[1] = pdk__server_hold_port(s->o.peers[s->o.id - 1].quorum_port);
    s->held[2] = pdk__server_hold_port(s->o.peers[s->o.id - 1].election_port);
}

/* Without a process, a directory or a port. */
static pdk__server *blank(void)
{
    pdk__server *s = calloc(1, sizeof *s);
    if (s == NULL) {
        pdk__server_fail("out of memory");
        return NULL;
    }
    s->keeper.fd = s->held[0] = s->held[1] = s->held[2] = -1;
    return s;
}

int pdk__server_new(pdk__server **out, const struct pdk__server_options *o)
{
    pdk__server *s = blank();
    if (s == NULL)
        return -1;
    s->o = *o;
    fill(&s->o);
    s->port_is_ours = s->o.client_port == 0;
    if (s->port_is_ours)
        s->o.client_port = pdk__server_free_port();
    if (pdk__java_open(&s->keeper, &s->o) != 0 || place(s, &s->o) != 0) {
        pdk__server_free(s);
        return -1;
    }
    *out = s;
    return 0;
}

int pdk__server_attach(pdk__server **out, int client_port)
{
    pdk__server *s = blank();
    if (s == NULL)
        return -1;
    s->o.client_port = client_port;
    s->is_foreign = true;
    *out = s;
    return 0;
}

void pdk__server_free(pdk__server *s)
{
    if (s == NULL)
        return;
    let_ports_go(s);
    pdk__keeper_close(&s->keeper);
    free(s);
}

/* --- running it -------------------------------------------------------------------------------------------------- */

static FILE *create(const char *dir, const char *name)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return fopen(path, "we");
}

static void write_peers(const struct pdk__server_options *o, FILE *f)
{
    fprintf(f, "initLimit=%d\nsyncLimit=%d\n", o->init_limit, o->sync_limit);
    for (int i = 0; i < o->n_peers; i++)
        fprintf(f, "server.%d=127.0.0.1:%d:%d\n", i + 1, o->peers[i].quorum_port, o->peers[i].election_port);
}

static int write_config(const pdk__server *s)
{
    const struct pdk__server_options *o = &s->o;
    FILE *f = create(s->keeper.dir, "zoo.cfg");
    if (f == NULL)
        return pdk__server_fail("cannot write %s/zoo.cfg: %s", s->keeper.dir, strerror(errno));
    fprintf(f, "tickTime=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n", o->tick_ms, o->min_session_ms,
            o->max_session_ms);
    fprintf(f, "dataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\n", s->data, o->client_port);
    fprintf(f, "admin.enableServer=false\n4lw.commands.whitelist=*\n");
    if (o->id > 0)
        write_peers(o, f);
    if (fclose(f) != 0)
        return pdk__server_fail("cannot write %s/zoo.cfg: %s", s->keeper.dir, strerror(errno));
    if (o->id == 0)
        return 0;
    f = create(s->data, "myid");
    bool written = f != NULL && fprintf(f, "%d\n", o->id) > 0;
    if (f == NULL || fclose(f) != 0 || !written)
        return pdk__server_fail("cannot write %s/myid: %s", s->data, strerror(errno));
    return 0;
}

int pdk__server_start(pdk__server *s)
{
    if (s->is_foreign)
        return pdk__server_fail("the server is not ours to start");
    pdk__server_stop(s, 5000);
    if (write_config(s) != 0)
        return -1;
    hold_ports(s);
    if (pdk__keeper_run(&s->keeper, s->log) != 0)
        return pdk__server_fail("cannot start java: %s", strerror(errno));
    return 0;
}

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); }

/* Ours, and not another server that took the port a moment before: it reports its data directory. Its role is known
 * before it grants sessions. */
static bool serves(const pdk__server *s)
{
    char text[2 * PATH_MAX];
    return pdk__server_ask_role(s) != PDK__SERVER_NONE &&
           pdk__server_4lw("127.0.0.1", s->o.client_port, "conf", text, sizeof text) > 0 &&
           strstr(text, s->data) != NULL && pdk__server_grants_session(s->o.client_port, SESSION_WAIT_MS);
}

int pdk__server_wait_ready_unless(pdk__server *s, int timeout_ms, bool (*unwanted)(void *arg), void *arg)
{
    long long until = now_ms() + timeout_ms;
    int tries = 5;
    while (!serves(s)) {
        if (unwanted(arg))
            return pdk__server_fail("the server is not wanted any more");
        if (now_ms() >= until)
            return pdk__server_fail("the server is not ready after %d ms", timeout_ms);
        if (!pdk__server_running(s)) {
            if (!s->port_is_ours || --tries == 0)
                return pdk__server_fail("the server ended before it was ready (port %d)", s->o.client_port);
            s->o.client_port = pdk__server_free_port();
            if (pdk__server_start(s) != 0)
                return -1;
        }
        nap();
    }
    s->port_is_ours = false; /* clients know it now */
    return 0;
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

int pdk__server_wait_ready(pdk__server *s, int timeout_ms)
{
    return pdk__server_wait_ready_unless(s, timeout_ms, never, NULL);
}

void pdk__server_stop(pdk__server *s, int grace_ms)
{
    long long until = now_ms() + grace_ms;
    if (s->keeper.child == 0)
        return;
    kill(s->keeper.child, SIGTERM);
    kill(s->keeper.child, SIGCONT);
    while (pdk__server_running(s) && now_ms() < until)
        nap();
    pdk__server_kill(s);
}

void pdk__server_kill(pdk__server *s)
{
    if (s->keeper.child == 0)
        return;
    kill(s->keeper.child, SIGKILL);
    pdk__keeper_reap(&s->keeper);
}

void pdk__server_pause(pdk__server *s)
{
    if (s->keeper.child == 0)
        return;
    kill(s->keeper.child, SIGSTOP);
    while (pdk__server_running(s) && !pdk__keeper_stopped(&s->keeper))
        nap();
}

void pdk__server_resume(pdk__server *s)
{
    if (s->keeper.child != 0)
        kill(s->keeper.child, SIGCONT);
}

void pdk__server_set_peer(pdk__server *s, int id, struct pdk__server_peer peer) { s->o.peers[id - 1] = peer; }

bool pdk__server_running(const pdk__server *s) { return s->is_foreign || pdk__keeper_alive(&s->keeper); }

pdk__server_role pdk__server_ask_role(const pdk__server *s)
{
    char text[1024];
    if (pdk__server_4lw("127.0.0.1", s->o.client_port, "srvr", text, sizeof text) < 0)
        return PDK__SERVER_NONE;
    if (strstr(text, "Mode: standalone") != NULL)
        return PDK__SERVER_STANDALONE;
    if (strstr(text, "Mode: leader") != NULL)
        return PDK__SERVER_LEADER;
    return strstr(text, "Mode: follower") != NULL ? PDK__SERVER_FOLLOWER : PDK__SERVER_NONE;
}

int pdk__server_port(const pdk__server *s) { return s->o.client_port; }

pid_t pdk__server_pid(const pdk__server *s) { return s->keeper.child; }

const char *pdk__server_dir(const pdk__server *s) { return s->keeper.dir; }
