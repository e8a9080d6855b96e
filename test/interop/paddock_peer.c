/*
 * Paddock's side of the matrix: paddock_peer HOSTS.
 *
 * It reads lines "RECIPE/N COMMAND [ARGUMENT...]" and answers "RECIPE/N WORD..." when the command is done; "ready"
 * first. Each RECIPE/N is a contender with a client of its own. Ends with its input.
 *
 *     mutex/1 try PATH MS                 held, busy, or error TEXT
 *     mutex/1 free                        freed
 *     mutex/1 meet PATH ROUNDS FILE    done N: in N rounds another holder had created FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_CONTENDERS = 32, LINE = 1024, WITHIN_MS = 60000, HELD_US = 2000 };

struct contender {
    char id[32];
    const struct recipe *recipe;
    pdk_client *client;
    void *object; /* of the recipe; NULL: it holds nothing */
    pdk_grant *permit;
};

/* Take creates the object and acquires; drop releases and frees. */
struct recipe {
    const char *name;
    int (*take)(struct contender *c, const char *path, int64_t ms);
    int (*drop)(struct contender *c);
};

/* --- recipes ----------------------------------------------------------------------------------------------------- */

static int drop_mutex(struct contender *c)
{
    pdk_mutex_unlock(c->object);
    return pdk_lock_free(c->object);
}

static int take_mutex(struct contender *c, const char *path, int64_t ms)
{
    pdk_mutex *m;
    int rc = pdk_mutex_new(&m, c->client, path, NULL);
    c->object = rc == 0 ? m : NULL;
    return rc == 0 ? pdk_mutex_timedlock(m, ms) : rc;
}

static int drop_multilock(struct contender *c)
{
    pdk_mutex_unlock(c->object);
    return pdk_lock_free(c->object);
}

/* Of PATH and one more. */
static int take_multilock(struct contender *c, const char *path, int64_t ms)
{
    pdk_mutex *m;
    char other[LINE];
    snprintf(other, sizeof other, "%s-other", path);
    int rc = pdk_mutex_new_several(&m, c->client, (const char *const[]){path, other}, 2, NULL);
    c->object = rc == 0 ? m : NULL;
    return rc == 0 ? pdk_mutex_timedlock(m, ms) : rc;
}

static int drop_rwlock(struct contender *c)
{
    pdk_rwlock_unlock(c->object);
    return pdk_lock_free(c->object);
}

static int take_rwlock(struct contender *c, const char *path)
{
    pdk_rwlock *l;
    int rc = pdk_rwlock_new(&l, c->client, path, NULL);
    c->object = rc == 0 ? l : NULL;
    return rc;
}

static int take_reader(struct contender *c, const char *path, int64_t ms)
{
    int rc = take_rwlock(c, path);
    return rc == 0 ? pdk_rwlock_timedrdlock(c->object, ms) : rc;
}

static int take_writer(struct contender *c, const char *path, int64_t ms)
{
    int rc = take_rwlock(c, path);
    return rc == 0 ? pdk_rwlock_timedwrlock(c->object, ms) : rc;
}

static int drop_semaphore(struct contender *c)
{
    if (c->permit)
        pdk_grant_release(c->permit);
    c->permit = NULL;
    return pdk_lock_free(c->object);
}

static int take_semaphore(struct contender *c, const char *path, int64_t ms)
{
    pdk_semaphore *s;
    int rc = pdk_semaphore_new(&s, c->client, path, 1, NULL);
    c->object = rc == 0 ? s : NULL;
    return rc == 0 ? pdk_semaphore_timedacquire(s, 1, ms, &c->permit) : rc;
}

static int drop_leader(struct contender *c)
{
    pdk_leader_resign(c->object);
    return pdk_lock_free(c->object);
}

static int take_leader(struct contender *c, const char *path, int64_t ms, bool turns)
{
    pdk_leader *l;
    int rc = pdk_leader_new(&l, c->client, path, turns ? PDK_IN_TURNS : PDK_LATCH, NULL);
    c->object = rc == 0 ? l : NULL;
    if (rc == 0)
        rc = pdk_leader_start(l);
    return rc == 0 ? pdk_leader_wait(l, ms) : rc;
}

static int take_latch(struct contender *c, const char *path, int64_t ms) { return take_leader(c, path, ms, false); }
static int take_turns(struct contender *c, const char *path, int64_t ms) { return take_leader(c, path, ms, true); }

static const struct recipe recipes[] = {
    {"mutex", take_mutex, drop_mutex},         {"reader", take_reader, drop_rwlock},
    {"writer", take_writer, drop_rwlock},      {"semaphore", take_semaphore, drop_semaphore},
    {"multi", take_multilock, drop_multilock}, {"latch", take_latch, drop_leader},
    {"turns", take_turns, drop_leader},
};

/* --- commands ---------------------------------------------------------------------------------------------------- */

static int drop(struct contender *c)
{
    int rc = c->object ? c->recipe->drop(c) : 0;
    c->object = NULL;
    return rc;
}

static int take(struct contender *c, const char *path, int64_t ms)
{
    int rc = c->recipe->take(c, path, ms);
    if (rc != 0)
        drop(c);
    return rc;
}

/* Whether another holder has created FILE, which a holder deletes before it releases. */
static int meet(const char *file)
{
    int fd = open(file, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool met = fd < 0 && errno == EEXIST;
    usleep(HELD_US);
    if (fd >= 0) {
        close(fd);
        unlink(file);
    }
    return met;
}

static void contend(struct contender *c, const char *path, int rounds, const char *file)
{
    int met = 0, rc = 0;
    for (int i = 0; i < rounds && rc == 0; i++) {
        rc = take(c, path, WITHIN_MS);
        met += rc == 0 && meet(file);
        drop(c);
    }
    if (rc == 0)
        printf("%s done %d\n", c->id, met);
    else
        printf("%s error %s\n", c->id, pdk_strerror(rc));
}

static void attempt(struct contender *c, const char *path, int64_t ms)
{
    int rc = take(c, path, ms);
    if (rc == 0 || rc == PDK_ETIMEDOUT)
        printf("%s %s\n", c->id, rc == 0 ? "held" : "busy");
    else
        printf("%s error %s\n", c->id, pdk_strerror(rc));
}

static void answer(struct contender *c, char *line)
{
    char path[LINE], file[LINE];
    long ms;
    int rounds;
    if (sscanf(line, "%*s try %s %ld", path, &ms) == 2)
        attempt(c, path, ms);
    else if (sscanf(line, "%*s meet %s %d %s", path, &rounds, file) == 3)
        contend(c, path, rounds, file);
    else if (strstr(line, " free") != NULL)
        printf("%s %s\n", c->id, drop(c) == 0 ? "freed" : "error not freed");
    else
        printf("%s error no such command\n", c->id);
    fflush(stdout);
}

/* --- contenders -------------------------------------------------------------------------------------------------- */

static const struct recipe *recipe_of(const char *id)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        size_t n = strlen(recipes[i].name);
        if (strncmp(id, recipes[i].name, n) == 0 && (id[n] == '/' || id[n] == '\0'))
            return &recipes[i];
    }
    fprintf(stderr, "paddock_peer: no recipe %s\n", id);
    exit(1);
}

/* The contender of that ID; it gets a client when it is named for the first time. */
static struct contender *find(struct contender all[N_CONTENDERS], const char *hosts, const char *id)
{
    struct contender *c = all;
    while (c < all + N_CONTENDERS && *c->id && strcmp(c->id, id) != 0)
        c++;
    if (c == all + N_CONTENDERS)
        exit(1);
    if (*c->id == '\0') {
        snprintf(c->id, sizeof c->id, "%s", id);
        c->recipe = recipe_of(id);
        if (pdk_client_new(&c->client, hosts, NULL) != 0)
            exit(1);
    }
    return c;
}

int main(int argc, char **argv)
{
    static struct contender all[N_CONTENDERS];
    char line[LINE], id[32];
    if (argc != 2)
        return 64;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && sscanf(line, "%31s", id) == 1)
        answer(find(all, argv[1], id), line);
    for (struct contender *c = all; c < all + N_CONTENDERS && *c->id; c++) {
        drop(c);
        pdk_client_free(c->client);
    }
    return 0;
}
