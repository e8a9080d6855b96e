/*
 * One client of the fault tests: a process of its own, so that the network can be cut around it alone.
 *
 *     worker HOSTS SESSION_MS PATH
 *
 * Reads commands, one a line: lock, unlock, state, run (lock, hold a moment, unlock, over and over, until the next
 * command), and ends at the end of its input. Writes one line for each event: when (CLOCK_MONOTONIC, in nanoseconds),
 * its name, the token of the grant, the session, a result.
 *
 * A belief is stamped so that it never looks longer than it was: after the lock was granted, before unlock is called.
 */
#include <inttypes.h>
#include <paddock.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_MS = 5, LEAVE_S = 20 };

static pdk_client *client;
static pdk_mutex *mutex;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void tell_at(int64_t ns, const char *what, int64_t token, int64_t session, int rc)
{
    printf("%" PRId64 " %s %" PRId64 " %" PRIx64 " %d\n", ns, what, token, (uint64_t)session, rc);
}

static void tell(const char *what, int64_t token, int rc)
{
    tell_at(now_ns(), what, token, pdk_client_session_id(client), rc);
}

static int64_t token_of(pdk_mutex *m)
{
    int64_t token = 0;
    return pdk_mutex_token(m, &token) == 0 ? token : 0;
}

static void on_state(pdk_mutex *m, pdk_state state, int64_t token, void *arg)
{
    static const char *const words[] = {"free", "held", "suspect", "lost"};
    (void)m, (void)arg;
    tell(words[state], token, 0);
}

/* The first call may come before pdk_client_new() has returned, so CLIENT is not to be used here. */
static void on_session(pdk_client *c, pdk_session_state state, void *arg)
{
    static const char *const words[] = {"connecting", "connected", "suspended", "over"};
    (void)arg;
    tell_at(now_ns(), words[state], 0, pdk_client_session_id(c), 0);
}

static int lock(void)
{
    tell("waiting", 0, 0);
    int rc = pdk_mutex_lock(mutex);
    int64_t ns = now_ns();
    tell_at(ns, rc == 0 ? "granted" : "failed", rc == 0 ? token_of(mutex) : 0, pdk_client_session_id(client), rc);
    return rc;
}

static void unlock(void)
{
    int64_t token = token_of(mutex);
    tell("releasing", token, 0);
    int rc = pdk_mutex_unlock(mutex);
    tell("released", token, rc);
}

static int commanded(int timeout_ms)
{
    return poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, timeout_ms);
}

static void run(void)
{
    while (commanded(0) == 0 && lock() == 0) {
        commanded(HOLD_MS);
        unlock();
    }
    tell("done", 0, 0);
}

static void obey(const char *command)
{
    if (strcmp(command, "lock\n") == 0)
        lock();
    else if (strcmp(command, "unlock\n") == 0)
        unlock();
    else if (strcmp(command, "state\n") == 0)
        tell("state", token_of(mutex), (int)pdk_mutex_state(mutex));
    else if (strcmp(command, "run\n") == 0)
        run();
}

/*
 * The process that gave the orders has ended: do not wait for a lock indefinitely. Where the network is entered through
 * sudo, a signal to the child that the test knows does not reach this process.
 */
static void *watch_input(void *arg)
{
    (void)arg;
    while (poll(&(struct pollfd){.fd = STDIN_FILENO}, 1, -1) <= 0)
        ;
    sleep(LEAVE_S);
    _exit(1);
}

static int make(const char *hosts, int session_ms, const char *path)
{
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return PDK_ENOMEM;
    int rc = pdk_client_options_set_session_timeout_ms(o, session_ms);
    if (rc == 0)
        rc = pdk_client_options_set_on_session(o, on_session, NULL);
    if (rc == 0)
        rc = pdk_client_new(&client, hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        rc = pdk_mutex_new(&mutex, client, path, NULL);
    return rc != 0 ? rc : pdk_mutex_on_state(mutex, on_state, NULL);
}

int main(int argc, char **argv)
{
    char command[64];
    if (argc != 4)
        return 64;
    /* Unbuffered, so that poll() sees every command that fgets() has not returned. */
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch_input, NULL) != 0)
        return 1;
    int rc = make(argv[1], atoi(argv[2]), argv[3]);
    if (rc != 0) {
        fprintf(stderr, "worker: %s\n", pdk_strerror(rc));
        return 1;
    }
    while (fgets(command, sizeof command, stdin) != NULL)
        obey(command);
    pdk_client_free(client);
    pdk_mutex_free(mutex);
    return 0;
}
