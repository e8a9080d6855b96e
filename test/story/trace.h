/*
 * A trace: one machine of the core, and the events and actions that pass. A story is script and oracle in one: each
 * line has an event with its arguments, a colon, and the actions that must come out; "-" for none.
 *
 *     story(&t, "acquire: create\n"
 *               "created own: -\n"
 *               "listed 4 own: watch(4) own\n"
 *               "watched: -\n"
 *               "own: -\n"
 *               "gone: granted\n");
 *
 * A story fails as a whole, with both texts, or at a line that cannot be read. The words of events and the short names
 * of nodes are in trace.c. Times are in milliseconds. Arguments:
 *
 *     nothing               a listing, or a record, without a node
 *     no-node               the outcome of an answer; also no-auth, unknown, changed, refused PDK_EPATH
 *     by other              the node's owner is another session; by anew: the session after ours; by us: ours
 *     token 80, version 4   of the node, or of the record
 *     with-children         the node has children
 *     of watch              the answer is to the last watch. Otherwise it is to the last request. Of watch before: to
 *                           the watch before that; of another: to a request of another trace
 *
 * "pass 100" lets time pass and feeds nothing. "version 1" changes the version of the own node. A question is answered
 * behind its colon: "wakes" (in how many milliseconds, or never), "now", "believed" (for how many milliseconds the
 * session is known to live, or no), "in doubt" and "proof needed" (yes or no), "attempt" (in hexadecimal), "phase".
 */
#ifndef PDK__STORY_TRACE_H
#define PDK__STORY_TRACE_H

#include "lib/core/barrier.h"
#include "lib/core/contender.h"
#include "lib/core/double_barrier.h"
#include "lib/core/session.h"
#include "lib/core/stray.h"
#include "test/lib/check.h"

/* The session and attempt of the machine of every trace. */
#define TRACE_SESSION INT64_C(0x1000)
#define TRACE_ATTEMPT 0x2au

/* The node "own" of a contender for a mutex. */
#define OURS "0000000000001000-0000002a-lock-0000000005"

enum { TRACE_KINDS = PDK__ACT_DONE + 1 };

struct trace_machine;

struct trace {
    const struct trace_machine *machine;
    struct pdk__contender c;
    struct pdk__session s;
    struct pdk__barrier barrier;
    struct pdk__double_barrier member;
    struct pdk__stray stray;
    struct pdk__wish wish;
    struct pdk__conditions conditions;
    uint64_t ops;
    uint32_t attempts;
    int64_t now_ms;
    int64_t timeout_ms;     /* of the session that the next connection brings; 0: the own node is watched at once */
    int64_t opening_ms;     /* when the last handle was asked for */
    int64_t token;          /* of our node, in the servers' replies */
    int32_t version;        /* of its data, likewise */
    int32_t record_version; /* of the lock path's data, as last read */
    uint64_t op;            /* of the last main request */
    uint64_t requests[TRACE_KINDS][2]; /* the last of each kind, and the request before it */
    char last_name[128];               /* of the node that was watched last */
    const char *file;
    int line;
    size_t length;
    char text[4096]; /* of the last story, or the last event that was fed: what it came to */
};

/* A contender in a connected session (or in none yet) that has no request. */
void trace_begin(struct trace *t, bool connected);

/* The same, of another recipe. */
void trace_begin_as(struct trace *t, const struct pdk__rule *rule, bool connected);

/* The session machine, with a timeout of 3000 and a tick of 1000. The gap is then 560, the margin 150, and the least
 * time left 300. */
void session_begin(struct trace *t, bool renewable);

/* A task of a barrier; a member of a double barrier for two; a stray. */
void barrier_begin(struct trace *t, enum pdk__barrier_task task, bool connected);
void member_begin(struct trace *t, bool connected);
void stray_begin(struct trace *t);

/* Feed the events of a story, whose text is a format, and compare what comes out with the whole of it. */
#define story(...) pdk__story(__FILE__, __LINE__, __VA_ARGS__)

/* Feed one event, the first half of a story's line, whatever comes out. */
#define feed(...) pdk__feed(__FILE__, __LINE__, __VA_ARGS__)

/* A test that is a story, and its name. An empty line in the text begins anew. */
struct story {
    const char *name;
    void (*begin)(void);
    const char *text;
};

/* The main() of a program of STORIES, which are told with T, and of TESTS, or NULL. The last of each has no name. */
int pdk__story_main(int argc, char **argv, const char *name, const char *file, struct trace *t,
                    const struct story *stories, const struct pdk__test *tests);

/* The macros call these. */
void pdk__story(const char *file, int line, struct trace *t, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void pdk__feed(const char *file, int line, struct trace *t, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
