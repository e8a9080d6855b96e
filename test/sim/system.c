/* The system's calls of the driver: locks, conditions, threads, clocks and descriptors, on fibers. */
#include "lib/zk/attempt.h"
#include "test/sim/fiber.h"
#include "test/sim/shim.h"
#include "test/sim/wired.h"
#include "test/sim/world.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct world *world;
static unsigned runs; /* a once of an earlier run is to be done again */

/* --- locks ------------------------------------------------------------------------------------------------------- */

/* ZooKeeper's own client (wired.h) has recursive ones. */
struct lock {
    struct fiber *holder;
    int depth; /* how often it holds it */
    bool recursive;
};
_Static_assert(sizeof(struct lock) <= sizeof(pthread_mutex_t), "a lock lies in the place of a mutex");

static struct lock *lock_of(pthread_mutex_t *mutex) { return (struct lock *)(void *)mutex; }

int sim_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    int type = PTHREAD_MUTEX_NORMAL;
    if (attr != NULL)
        pthread_mutexattr_gettype(attr, &type);
    *lock_of(mutex) = (struct lock){.recursive = type == PTHREAD_MUTEX_RECURSIVE};
    return 0;
}

int sim_mutex_destroy(pthread_mutex_t *mutex)
{
    if (lock_of(mutex)->holder != NULL)
        world_break(world, "driver", "a mutex is destroyed that is locked");
    return 0;
}

/* Others may come first: where no lock is held, a thread can lose the processor. */
void sim_preempt(void)
{
    if (fiber_now->n_locks == 0 && chance(&world->random, world->preempt_permille))
        fiber_block(fiber_now, below(&world->random, 50));
}

static void take_lock(pthread_mutex_t *mutex, int depth)
{
    struct lock *lock = lock_of(mutex);
    while (lock->holder != NULL)
        fiber_block(mutex, -1);
    lock->holder = fiber_now;
    lock->depth = depth;
    fiber_now->n_locks++;
}

static struct lock *own_lock(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    if (lock->holder != fiber_now)
        world_break(world, "driver", "a thread unlocks a mutex that it does not hold");
    return lock;
}

static void give_lock(pthread_mutex_t *mutex)
{
    own_lock(mutex)->holder = NULL;
    fiber_now->n_locks--;
    fiber_wake_one(mutex);
}

int sim_mutex_lock(pthread_mutex_t *mutex)
{
    struct lock *lock = lock_of(mutex);
    if (fiber_now == NULL) { /* the world looks */
        if (lock->holder != NULL)
            abort();
        return 0;
    }
    if (fiber_now->owner->child == fiber_now)
        world_break(world, "driver", "a child takes a lock of its parent's");
    sim_preempt();
    if (lock->holder == fiber_now && !lock->recursive)
        world_break(world, "driver", "a thread locks a mutex that it holds");
    if (lock->holder == fiber_now)
        lock->depth++;
    else
        take_lock(mutex, 1);
    return 0;
}

int sim_mutex_unlock(pthread_mutex_t *mutex)
{
    if (fiber_now != NULL && --own_lock(mutex)->depth == 0)
        give_lock(mutex);
    return 0;
}

/* How often it was signalled. */
static unsigned *signals_of(pthread_cond_t *cond) { return (unsigned *)(void *)cond; }

int sim_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    *signals_of(cond) = 0;
    return 0;
}

int sim_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static bool wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex, instant at_most)
{
    int depth = lock_of(mutex)->depth;
    give_lock(mutex);
    bool woken = fiber_block(cond, at_most);
    take_lock(mutex, depth);
    return woken;
}

int sim_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    wait_on(cond, mutex, -1);
    return 0;
}

static int64_t read_clock(const struct client *c, int clock)
{
    return clock == CLOCK_MONOTONIC ? client_monotonic_us(c) : client_now_us(c);
}

/* In the world's time, of what a clock of the client's will say unless its machine is suspended. */
static instant until(const struct client *c, int clock, int64_t at_us)
{
    int64_t left_us = at_us - read_clock(c, clock);
    if (left_us > INT64_C(1000000) * INT32_MAX)
        return -1;
    return left_us > 0 ? left_us * INT64_C(1000000) / (1000000 + c->drift_ppm) + 2 : 1;
}

int sim_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at)
{
    const struct client *c = fiber_now->owner;
    int64_t at_us = (int64_t)at->tv_sec * 1000000 + at->tv_nsec / 1000;
    unsigned signals = *signals_of(cond);
    do
        if (wait_on(cond, mutex, until(c, CLOCK_MONOTONIC, at_us)))
            return 0;
    while (*signals_of(cond) == signals && client_monotonic_us(c) < at_us);
    return *signals_of(cond) != signals ? 0 : ETIMEDOUT;
}

int sim_cond_signal(pthread_cond_t *cond)
{
    ++*signals_of(cond);
    fiber_wake_one(cond);
    return 0;
}

int sim_cond_broadcast(pthread_cond_t *cond)
{
    ++*signals_of(cond);
    fiber_wake_all(cond);
    return 0;
}

/* --- threads ----------------------------------------------------------------------------------------------------- */

static int n_threads[CLIENTS_MAX]; /* neither joined nor detached */

int sim_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return world_starves(world) ? EAGAIN : sim_thread_start(thread, attr, run, arg);
}

int sim_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    (void)attr;
    *thread = (pthread_t)(uintptr_t)fiber_start(fiber_now->owner, run, arg);
    n_threads[fiber_now->owner->id]++;
    return 0;
}

int sim_thread_join(pthread_t thread, void **result)
{
    struct fiber *f = (struct fiber *)(uintptr_t)thread;
    (void)result;
    while (!f->done)
        fiber_block(f, -1);
    return sim_thread_detach(thread);
}

int sim_thread_detach(pthread_t thread)
{
    struct fiber *f = (struct fiber *)(uintptr_t)thread;
    f->detached = true;
    n_threads[f->owner->id]--;
    return 0;
}

pthread_t sim_thread_self(void) { return (pthread_t)(uintptr_t)fiber_now; }

/* No signal comes. */
int sim_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how, (void)set, (void)before;
    return 0;
}

int sim_once(pthread_once_t *once, void (*run)(void))
{
    if ((unsigned)*once == runs)
        return 0;
    *once = (pthread_once_t)runs;
    run();
    return 0;
}

int sim_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare, (void)parent, (void)child;
    return 0;
}

int sim_setcancelstate(int state, int *before)
{
    if (before != NULL)
        *before = PTHREAD_CANCEL_ENABLE;
    (void)state;
    return 0;
}

/* --- clocks and chance ------------------------------------------------------------------------------------------- */

int sim_clock_gettime(clockid_t clock, struct timespec *now)
{
    int64_t us = fiber_now != NULL ? read_clock(fiber_now->owner, clock) : world->agenda.now;
    *now = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    return 0;
}

ssize_t sim_getrandom(void *buf, size_t size, unsigned flags)
{
    (void)flags;
    uint64_t word = draw(&world->random);
    uint32_t half = (uint32_t)word; /* the same number in either order of bytes */
    if (size == sizeof half)
        memcpy(buf, &half, sizeof half);
    else
        memcpy(buf, &word, size < sizeof word ? size : sizeof word);
    return (ssize_t)size;
}

/* --- descriptors ------------------------------------------------------------------------------------------------- */

enum { FD_FIRST = 1000, FDS_MAX = 512 };

static struct descriptor {
    bool open;
    struct client *owner;
    int clock;
    int64_t at_us; /* by that clock */
    uint64_t count;
    unsigned alarms; /* only the newest counts */
} fds[FDS_MAX];

/* The pollers of a process wait on this. */
static const void *polls_of(const struct client *c) { return &c->clock_ms; }

static struct descriptor *descriptor(int fd)
{
    if (fd < FD_FIRST || fd >= FD_FIRST + FDS_MAX || !fds[fd - FD_FIRST].open)
        world_break(world, "driver", "descriptor %d is not open", fd);
    return &fds[(fd - FD_FIRST) % FDS_MAX];
}

static int make_descriptor(void)
{
    for (int i = 0; i < FDS_MAX; i++)
        if (!fds[i].open) {
            fds[i].open = true;
            fds[i].owner = fiber_now->owner;
            fds[i].count = 0;
            fds[i].alarms++;
            return FD_FIRST + i;
        }
    abort();
}

int sim_timerfd_create(int clock, int flags)
{
    int fd = make_descriptor();
    (void)flags;
    fds[fd - FD_FIRST].clock = clock;
    return fd;
}

static void expire(void *subject, uint64_t alarm)
{
    struct descriptor *d = subject;
    if (!d->open || d->alarms != alarm)
        return;
    if (read_clock(d->owner, d->clock) < d->at_us) {
        agenda_add(&world->agenda, until(d->owner, d->clock, d->at_us), expire, d, alarm);
        return;
    }
    d->count++;
    fiber_wake_all(polls_of(d->owner));
}

int sim_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *before)
{
    (void)flags, (void)before;
    if (fd == -1) { /* closed, and known to be */
        errno = EBADF;
        return -1;
    }
    struct descriptor *d = descriptor(fd);
    d->at_us = (int64_t)at->it_value.tv_sec * 1000000 + at->it_value.tv_nsec / 1000;
    instant left = until(d->owner, d->clock, d->at_us);
    d->alarms++;
    if (left >= 0)
        agenda_add(&world->agenda, left, expire, d, d->alarms);
    return 0;
}

int sim_eventfd(unsigned count, int flags)
{
    (void)flags;
    int fd = make_descriptor();
    descriptor(fd)->count = count;
    return fd;
}

int sim_eventfd_write(int fd, eventfd_t value)
{
    if (fd == -1) { /* closed, and known to be */
        errno = EBADF;
        return -1;
    }
    struct descriptor *d = descriptor(fd);
    d->count += value;
    fiber_wake_all(polls_of(d->owner));
    return 0;
}

ssize_t sim_read(int fd, void *buf, size_t size)
{
    struct descriptor *d = descriptor(fd);
    if (d->count == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(buf, &d->count, size < sizeof d->count ? size : sizeof d->count);
    d->count = 0;
    return sizeof d->count;
}

int sim_eventfd_read(int fd, eventfd_t *value) { return sim_read(fd, value, sizeof *value) < 0 ? -1 : 0; }

int sim_close(int fd)
{
    descriptor(fd)->open = false;
    return 0;
}

static int ready(struct pollfd *polled, nfds_t n)
{
    int found = 0;
    for (nfds_t i = 0; i < n; i++) {
        bool skipped = polled[i].fd < 0; /* as poll() does */
        polled[i].revents = !skipped && descriptor(polled[i].fd)->count > 0 ? POLLIN : 0;
        found += polled[i].revents != 0;
    }
    return found;
}

int sim_poll(struct pollfd *polled, nfds_t n, int timeout_ms)
{
    instant end = world->agenda.now + (instant)timeout_ms * 1000;
    int found = 0;
    while ((found = ready(polled, n)) == 0 && (timeout_ms < 0 || world->agenda.now < end))
        fiber_block(polls_of(fiber_now->owner), timeout_ms < 0 ? -1 : end - world->agenda.now);
    return found;
}

int system_open(const struct client *c)
{
    int n = n_threads[c->id];
    for (int i = 0; i < FDS_MAX; i++)
        n += fds[i].open && fds[i].owner == c;
    return n;
}

void system_begin(struct world *w)
{
    world = w;
    runs++;
    wired_forget();
    atomic_store(&pdk__attempts_drawn, 0); /* they are in names and seeds: a run is the same whichever ran before it */
    memset(n_threads, 0, sizeof n_threads);
    for (int i = 0; i < FDS_MAX; i++)
        fds[i].open = false;
}
