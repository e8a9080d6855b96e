/*
 * leader: a daemon of which many run and one works: the one that holds the mutex.
 *
 * Everything happens on one thread, in a loop of its own: the library's callbacks run inside pdk_client_dispatch(), so
 * no lock of ours is needed. It works in short steps and asks before each of them whether it still leads; when the
 * connection is lost (SUSPECT) or the lock is (LOST) it stands down at once, and stands again. SIGTERM ends it: the
 * lock is released first, so the next one leads without waiting for a session to expire.
 */
#include <errno.h>
#include <inttypes.h>
#include <paddock.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { STEP_MS = 1000, EXIT_USAGE = 64 };

/* IDLE -> STANDING (lock asked for) -> LEADING -> LEAVING (unlock asked for) -> IDLE, where it stands again or ends. */
enum stage { IDLE, STANDING, LEADING, LEAVING };

struct leader {
    pdk_client *client;
    pdk_mutex *mutex;
    pdk_op *op; /* the pending lock */
    enum stage stage;
    bool ending; /* SIGTERM came */
    int rc;      /* the error that ends it */
    int64_t token;
};

static void say(const char *what, int64_t token)
{
    printf("%s, token %" PRId64 "\n", what, token);
    fflush(stdout);
}

/* What only a leader may do; short. The token goes along, for whoever is written to to refuse a smaller one. */
static void work(struct leader *l)
{
    if (pdk_mutex_state(l->mutex) == PDK_HELD)
        say("working", l->token);
}

static void on_unlocked(int rc, void *arg)
{
    struct leader *l = arg;
    l->stage = IDLE; /* lost, or unknown: the lock is not ours either way */
    if (pdk_err_fatal(rc))
        l->rc = rc;
}

static void stand_down(struct leader *l, const char *why)
{
    say(why, l->token);
    l->stage = LEAVING;
    int rc = pdk_mutex_unlock_async(l->mutex, on_unlocked, l);
    if (rc) { /* no callback will come */
        l->stage = IDLE;
        l->rc = rc == PDK_ELOST ? 0 : rc;
    }
}

static void on_state(pdk_mutex *m, pdk_state state, int64_t token, void *arg)
{
    struct leader *l = arg;
    (void)m;
    if (l->stage == LEADING && token == l->token && state != PDK_HELD)
        stand_down(l, state == PDK_LOST ? "standing down: lost" : "standing down: connection lost");
}

static void on_locked(int rc, void *arg)
{
    struct leader *l = arg;
    pdk_op_free(l->op);
    l->op = NULL;
    l->stage = IDLE;
    if (rc == 0)
        rc = pdk_mutex_token(l->mutex, &l->token);
    if (rc) {
        l->rc = rc == PDK_ECANCELED || pdk_err_retriable(rc) ? 0 : rc;
        return;
    }
    l->stage = LEADING;
    if (l->ending || pdk_mutex_state(l->mutex) != PDK_HELD)
        stand_down(l, "standing down");
    else
        say("leading", l->token);
}

static void stand(struct leader *l)
{
    l->stage = STANDING;
    int rc = pdk_mutex_lock_async(l->mutex, PDK_FOREVER, on_locked, l, &l->op);
    if (rc) {
        l->stage = IDLE;
        l->rc = rc;
    }
}

static void end(struct leader *l)
{
    l->ending = true;
    if (l->stage == LEADING)
        stand_down(l, "standing down: asked to end");
    else if (l->stage == STANDING)
        pdk_op_cancel(l->op);
}

/* Returns when it was asked to end and the lock is released, or when there is no point in going on. */
static void run(struct leader *l, int signals)
{
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = pdk_client_fd(l->client), .events = POLLIN}};
    while (!l->rc && !(l->ending && l->stage == IDLE)) {
        if (l->stage == IDLE)
            stand(l);
        int n = poll(fds, 2, STEP_MS);
        struct signalfd_siginfo info;
        if (n > 0 && fds[0].revents && read(signals, &info, sizeof info) == sizeof info)
            end(l);
        if (n > 0 && fds[1].revents)
            pdk_client_dispatch(l->client);
        if (l->stage == LEADING)
            work(l);
    }
}

static int open_client(struct leader *l, const char *hosts, const char *path)
{
    pdk_client_options *o = pdk_client_options_new();
    if (!o)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_dispatch(o, true);
    if (rc == 0)
        rc = pdk_client_new(&l->client, hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        rc = pdk_mutex_new(&l->mutex, l->client, path, NULL);
    return rc ? rc : pdk_mutex_on_state(l->mutex, on_state, l);
}

/* Before the client is made: its threads inherit the mask, and leave these signals to us. */
static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int main(int argc, char **argv)
{
    struct leader l = {0};
    if (argc != 3) {
        fprintf(stderr, "Usage: leader HOST:PORT[,HOST:PORT...] /LOCK/PATH\n");
        return EXIT_USAGE;
    }
    int signals = open_signals();
    if (signals < 0) {
        fprintf(stderr, "leader: signalfd: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    l.rc = open_client(&l, argv[1], argv[2]);
    if (!l.rc)
        run(&l, signals);
    if (l.rc)
        fprintf(stderr, "leader: %s\n", pdk_strerror(l.rc));
    if (l.client)
        pdk_client_close(l.client);
    pdk_mutex_free(l.mutex);
    pdk_client_free(l.client);
    close(signals);
    return l.rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
