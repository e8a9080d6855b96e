/* The common parts of the interoperability tests: a server, a client of ours, and a look at the queue. */
#ifndef PDK__INTEROP_INTEROP_H
#define PDK__INTEROP_INTEROP_H

#include "server/throwaway.h"
#include <paddock.h>
#include <pthread.h>
#include <stdbool.h>

/* LIMIT_MS is generous: only a test that fails spends it. */
enum { LIMIT_MS = 60000, LONG_SESSION_MS = 20000, SHORT_SESSION_MS = 2000 };

extern pdk__server *server;
extern pdk_client *ours;

void interop_open(void);
void interop_close(void);

/* The server is stopped and started; ours is connected again. */
void interop_restart(void);

/* A client that is connected. */
pdk_client *new_client(int session_ms);

pdk_mutex *new_mutex(pdk_client *c, const char *path);

/* The contenders of PATH; free the list. */
pdk_contender_list *list(const char *path);

/* The number of contenders of PATH. */
size_t count(const char *path);

/* A thread that locks and unlocks. Static: it outlives a test that fails. */
struct waiter {
    pthread_t thread;
    pdk_mutex *mutex;
    _Atomic bool held; /* it held the lock, and may have released it */
};

void waiter_start(struct waiter *w, pdk_mutex *m);

/* Wait until it held the lock and released it; frees the mutex. */
void waiter_finish(struct waiter *w);

/* The questions to a peer, and its answers. */
struct dialogue {
    const char *lock, *locked, *unlock, *unlocked;
};

/* The peer, which START starts, has the last number of PATH, and holds by it; ours comes after that, and waits until
 * the path can be made anew. */
void across_the_end(const char *path, void (*start)(const char *path), const struct dialogue *says);

/* Every transaction has a number: as long as this one does not change, no client has written. */
long long last_zxid(void);

/* turns.c */
void three_of_each_take_turns(void);

/* rwlocks.c */
void readers_of_both_hold_at_once(void);
void curators_reader_and_writer_wait_for_our_writer(void);
void our_writer_waits_among_curators_readers(void);
void our_writer_that_reads_on_keeps_curators_writer_out(void);

/* takers.c */
void curators_takers_wait_for_each_other(void);

/* permits.c */
void permits_of_both_are_counted_together(void);
void curator_waits_for_our_permits(void);
void ours_waits_for_curators_permits(void);
void one_permit_is_curators_semaphore_mutex(void);
void both_follow_curators_count(void);

/* barriers.c */
void curator_waits_at_our_barrier(void);
void ours_waits_at_curators_barrier(void);
void members_of_both_enter_and_leave_together(void);
void an_entry_of_curators_ends_at_a_reconnection(void);
void a_killed_curator_member_is_not_waited_for(void);

/* latches.c */
void ours_stands_while_curator_leads(void);
void curator_stands_while_ours_leads(void);
void a_killed_curator_leader_is_followed_by_ours(void);
void ours_and_curators_selector_take_turns(void);

#endif
