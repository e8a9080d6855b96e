/*
 * The laws. A law sees only what can be observed: the notifications of callers with their times, and the commits of the
 * ensemble. Each law has a file of its own, with its state.
 */
#ifndef SIM_LAWS_H
#define SIM_LAWS_H

#include "test/sim/world.h"
#include <paddock/once.h>

/* Any of the functions may be NULL. */
struct law {
    const char *name;
    void (*begin)(struct world *w);
    void (*stepped)(struct world *w, const struct claim *claim, const struct pdk__contender *before,
                    const struct pdk__event *ev, const struct pdk__actions *actions);
    void (*granted)(struct world *w, const struct claim *claim);
    void (*told)(struct world *w, const struct claim *claim, enum pdk__action_kind what);  /* before `granted` */
    void (*committed)(struct world *w, const struct txn *txn);                             /* after it applied */
    void (*expiring)(struct world *w, const struct server *leader, session_index session); /* its end is decided */
    void (*deleting)(struct world *w, int path, const struct node *node);                  /* before the deletion */
    void (*hearing)(struct world *w, const struct client *c,
                    const struct answer *event);             /* a watch event, before it acts */
    void (*received)(struct world *w, struct client *c);     /* a reply or an event, after it acted */
    void (*parted)(struct world *w, const struct client *c); /* it gives up its connection, or loses it */
    void (*passed)(struct world *w);                         /* time has passed: every few happenings */
    void (*finished)(struct world *w); /* all faults healed, all clients done, dead sessions expired */
};

extern const struct law law_exclusion, law_belief, law_tokens, law_order, law_completion, law_nodes, law_watches,
    law_herd, law_presence, law_service, law_steady, law_prompt, law_delay, law_silence, law_observers, law_deletion,
    law_revocation, law_permits, law_idle, law_barriers, law_notes, law_jobs, law_reconnect, law_listings;

/* A plain listing was sent. */
void law_listings_sent(const struct client *c, const struct ticket *t);

/* A claim's request fails with ERROR. */
void law_service_judge(struct world *w, const struct claim *claim, int error);

/* A call at a barrier begins, and is answered. */
void law_barriers_begin(struct attendant *a, enum barrier_task task);
void law_barriers_end(struct attendant *a, int rc);

/* The end of the run with this token, which began then, with STATUS, is answered RC. */
void law_jobs_ended(struct world *w, int64_t token, int64_t begun_ms, int status, int rc);

/* The job is skipped, by what was READ: when it was DATE_MS, by a client that had seen the write SINCE. */
void law_jobs_skipped(struct world *w, const pdk_runs *read, const char *key, int64_t date_ms, int64_t since);

/* A call is refused for the record's sake, to a client that had seen the write SINCE: a beginning under TOKEN, or
 * another call, where that is INT64_MAX. */
void law_jobs_refused(struct world *w, int64_t since, int64_t token);

/* Has a hostile contender written a record with this run? An excuse, which is counted. */
bool law_jobs_forged(int64_t token, int64_t begun_ms);

/* A write under guard begins, by a grant with TOKEN, which excludes all others on PATH; or PATH is -1. Returns the
 * number that is its text. */
int law_notes_begin(const struct client *c, int path, int64_t token);

/* It is answered. */
void law_notes_end(struct world *w, int note, int rc);

/* A note without an answer, of a client that lives; -1: there is none. */
int law_notes_unanswered(void);

/* A member asks for the word that lets all in. */
void law_barriers_word(struct client *c);

/* A client reports that the node with this token leads the path. */
void law_observers_judge(struct world *w, int path, int64_t token);

/* The token of the path's leader, by the truth; 0 for none. */
int64_t law_observers_leader(const struct world *w);

/* A client reports that the path has no leader, on a question that it asked at SINCE. */
void law_observers_judge_none(struct world *w, instant since);

/* No watch on the claim's own node is set, and none is due a twentieth of the session after SINCE, when it could have
 * known of a change of its node. SINCE is set if it is 0. */
bool laws_unwatched(const struct claim *claim, instant *since);

/* The claim is of a reader that was made under its writer's number. A hostile client had put another node in the
 * writer's place. The library answers its caller that the writer's lock is lost. */
bool laws_writer_replaced(struct world *w, const struct claim *claim);

/* All of them, NULL-terminated. */
extern const struct law *const laws[];

/* Does a node of this name, which is ahead, keep the claim from its grant? Readers do not keep readers, nor does a
 * writer the reader that was made under its number. Permits are counted. */
bool laws_blocks(const struct claim *claim, const char *name);

#define EACH_LAW(w, hook, ...)                                                                                         \
    for (const struct law *const *law = laws; *law != NULL; law++)                                                     \
        if ((*law)->hook != NULL)                                                                                      \
    (*law)->hook(w, ##__VA_ARGS__)

#endif
