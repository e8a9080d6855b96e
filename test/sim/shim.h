/*
 * The calls of the driver and the recipes to the system, in the simulator. The compiler includes this file before each
 * of their sources, which are otherwise compiled as they ship: threads are fibers (fiber.h), time is the client's own
 * clock, and descriptors are numbers (system.c). ZooKeeper's client is test/sim/zookeeper.c.
 */
#ifndef SIM_SHIM_H
#define SIM_SHIM_H

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>

/* Each fiber has its own copy (fiber.c). */
#define _Thread_local __attribute__((section("sim_tls")))

int sim_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int sim_mutex_destroy(pthread_mutex_t *mutex);
int sim_mutex_lock(pthread_mutex_t *mutex);
int sim_mutex_unlock(pthread_mutex_t *mutex);
void sim_preempt(void);
int sim_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int sim_cond_destroy(pthread_cond_t *cond);
int sim_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int sim_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at);
int sim_cond_signal(pthread_cond_t *cond);
int sim_cond_broadcast(pthread_cond_t *cond);
int sim_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int sim_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int sim_thread_join(pthread_t thread, void **result);
int sim_thread_detach(pthread_t thread);
pthread_t sim_thread_self(void);
int sim_once(pthread_once_t *once, void (*run)(void));
int sim_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int sim_setcancelstate(int state, int *before);
int sim_clock_gettime(clockid_t clock, struct timespec *now);
ssize_t sim_getrandom(void *buf, size_t size, unsigned flags);
int sim_timerfd_create(int clock, int flags);
int sim_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *before);
int sim_eventfd(unsigned count, int flags);
int sim_eventfd_read(int fd, eventfd_t *value);
int sim_eventfd_write(int fd, eventfd_t value);
ssize_t sim_read(int fd, void *buf, size_t size);
int sim_close(int fd);
int sim_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found);
void sim_freeaddrinfo(struct addrinfo *found);
int sim_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

#define pthread_mutex_init(...) sim_mutex_init(__VA_ARGS__)
#define pthread_mutex_destroy(...) sim_mutex_destroy(__VA_ARGS__)
#define pthread_mutex_lock(...) sim_mutex_lock(__VA_ARGS__)
#define pthread_mutex_unlock(...) sim_mutex_unlock(__VA_ARGS__)
#define pthread_cond_init(...) sim_cond_init(__VA_ARGS__)
#define pthread_cond_destroy(...) sim_cond_destroy(__VA_ARGS__)
#define pthread_cond_wait(...) sim_cond_wait(__VA_ARGS__)
#define pthread_cond_timedwait(...) sim_cond_timedwait(__VA_ARGS__)
#define pthread_cond_signal(...) sim_cond_signal(__VA_ARGS__)
#define pthread_cond_broadcast(...) sim_cond_broadcast(__VA_ARGS__)
#define pthread_create(...) sim_thread_create(__VA_ARGS__)
#define pthread_join(...) sim_thread_join(__VA_ARGS__)
#define pthread_detach(...) sim_thread_detach(__VA_ARGS__)
#define pthread_self() sim_thread_self()
#define pthread_once(...) sim_once(__VA_ARGS__)
#define pthread_atfork(...) sim_atfork(__VA_ARGS__)
#define pthread_setcancelstate(...) sim_setcancelstate(__VA_ARGS__)
#define pthread_sigmask sim_sigmask
#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#define pthread_cleanup_push(run, arg)                                                                                 \
    {                                                                                                                  \
        void (*cleanup_run_)(void *) = (run);                                                                          \
        void *cleanup_arg_ = (arg);
#define pthread_cleanup_pop(execute)                                                                                   \
    if (execute)                                                                                                       \
        cleanup_run_(cleanup_arg_);                                                                                    \
    }
#define clock_gettime(...) sim_clock_gettime(__VA_ARGS__)
#define getrandom(...) sim_getrandom(__VA_ARGS__)
#define timerfd_create(...) sim_timerfd_create(__VA_ARGS__)
#define timerfd_settime(...) sim_timerfd_settime(__VA_ARGS__)
#define eventfd(...) sim_eventfd(__VA_ARGS__)
#define eventfd_read(...) sim_eventfd_read(__VA_ARGS__)
#define eventfd_write(...) sim_eventfd_write(__VA_ARGS__)
#define read(...) sim_read(__VA_ARGS__)
#define close(...) sim_close(__VA_ARGS__)
#define poll(...) sim_poll(__VA_ARGS__)
#define getaddrinfo(...) sim_getaddrinfo(__VA_ARGS__)
#define freeaddrinfo(...) sim_freeaddrinfo(__VA_ARGS__)

/* The laws watch the machines at each step that the driver makes. */
#define pdk__contender_step(...) sim_contender_step(__VA_ARGS__)
#define pdk__session_step(...) sim_session_step(__VA_ARGS__)
#define pdk__stray_init(...) sim_stray_init(__VA_ARGS__)
#define pdk__stray_step(...) sim_stray_step(__VA_ARGS__)

#endif
