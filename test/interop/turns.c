/* Contenders of both kinds. The holder creates a file that must not exist, so a second holder is caught at once. */
#include "interop.h"

#include "peer.h"
#include "test/lib/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 3, ROUNDS = 20 };

struct contender {
    pthread_t thread;
    pdk_client *client;
    pdk_mutex *mutex;
    const char *witness, *log;
    int rounds; /* that are done */
};

static void *contend(void *arg)
{
    struct contender *c = arg;
    while (c->rounds < ROUNDS) {
        CHECK_RC(pdk_mutex_lock(c->mutex), PDK_OK);
        int witness = open(c->witness, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        CHECK_LAW(witness >= 0); /* or another contender holds the lock */
        close(witness);
        int log = open(c->log, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
        CHECK(log >= 0);
        CHECK_EQ(write(log, "p", 1), 1);
        close(log);
        usleep(1000);
        CHECK_EQ(unlink(c->witness), 0);
        CHECK_RC(pdk_mutex_unlock(c->mutex), PDK_OK);
        c->rounds++;
    }
    return NULL;
}

static void check_log(const char *path)
{
    char text[2 * EACH * ROUNDS + 2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    CHECK_EQ(n, 2 * EACH * ROUNDS);
    text[2 * EACH] = '\0';
    CHECK_LAW(strcmp(text, "pcpcpc") == 0); /* they were all in the queue, in this order */
}

/* All are in the queue, ours and Curator's in turn, before the first of them gets the lock. */
static void line_up(struct contender *c, const char *path, const char *witness, const char *log)
{
    for (size_t i = 0; i < EACH; i++) {
        c[i].client = new_client(LONG_SESSION_MS);
        c[i].mutex = new_mutex(c[i].client, path);
        c[i].witness = witness;
        c[i].log = log;
        CHECK_EQ(pthread_create(&c[i].thread, NULL, contend, &c[i]), 0);
        CHECK_WITHIN(LIMIT_MS, count(path) == 2 * i + 2);
        program_say(&peer, "%zu contend %d %s %s", i, ROUNDS, witness, log);
        CHECK_WITHIN(LIMIT_MS, count(path) == 2 * i + 3);
    }
}

static void see_them_end(struct contender *c)
{
    for (size_t i = 0; i < EACH; i++) {
        const char *line = program_hear(&peer);
        CHECK_STR(line + strcspn(line, " "), " done");
    }
    for (size_t i = 0; i < EACH; i++) {
        CHECK_EQ(pthread_join(c[i].thread, NULL), 0);
        CHECK_EQ(c[i].rounds, ROUNDS);
        CHECK_RC(pdk_lock_free(c[i].mutex), PDK_OK);
        CHECK_RC(pdk_client_free(c[i].client), PDK_OK);
    }
}

void three_of_each_take_turns(void)
{
    const char *path = "/interop/both";
    static char witness[4200], log[4200]; /* a thread that fails to end may still use them */
    static struct contender c[EACH];
    pdk_mutex *gate = new_mutex(ours, path);
    snprintf(witness, sizeof witness, "%s/witness", pdk__server_dir(server));
    snprintf(log, sizeof log, "%s/log", pdk__server_dir(server));
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    CHECK_RC(pdk_mutex_lock(gate), PDK_OK);
    line_up(c, path, witness, log);
    CHECK_RC(pdk_mutex_unlock(gate), PDK_OK);
    see_them_end(c);
    check_log(log);
    CHECK_RC(pdk_lock_free(gate), PDK_OK);
}
