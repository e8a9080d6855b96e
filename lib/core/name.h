/*
 * Names of contenders: of our nodes, and of those that other libraries create.
 *
 *     <16 hex digits of the session>-<8 hex digits of the attempt>-lock-<10 digits of the server's sequence>
 *
 * with "latch-" in place of "lock-" for a leader, "__READ__" and "__WRIT__" for a read/write lock, "lease-" for a
 * permit of a semaphore. Curator's clients order by what follows that tag, and each recipe has its own. The session
 * distinguishes our node from one that a previous session left. The attempt distinguishes two requests of one session.
 * Both are in the name because a listing shows only names, and after a lost reply a listing is all we have.
 */
#ifndef PDK__NAME_H
#define PDK__NAME_H

#include <stdbool.h>
#include <stdint.h>

/* The servers count the creates of a path to 2147483647, and then no more sequential node can be made. From here on who
 * leaves the path tries to renew it: at 1,000 creates a second there are 37 hours left. */
#define PDK__NAME_NEAR_END (INT64_C(2147483647) - (INT64_C(1) << 27))

/* Large enough for a name of ours, its sequence being at most "-2147483648", and the NUL. */
enum { PDK__NAME_MAX = 64 };

/* The length of the longest: "__READ__" is the longest tag. */
enum { PDK__NAME_LENGTH_MAX = 16 + 1 + 8 + 1 + 8 + 11 };

/* The tag right before the sequence number. */
enum pdk__tag { PDK__TAG_LOCK, PDK__TAG_LATCH, PDK__TAG_READ, PDK__TAG_WRITE, PDK__TAG_PERMIT, PDK__N_TAGS };

enum pdk__name_kind {
    PDK__NAME_OURS,    /* exactly our form */
    PDK__NAME_CURATOR, /* one of the tags right before the sequence */
    PDK__NAME_FOREIGN, /* a sequence number after something else: a contender of another recipe */
    PDK__NAME_JUNK     /* no sequence number: no lock library created it */
};

struct pdk__name {
    enum pdk__name_kind kind;
    int64_t sequence;  /* signed: servers before 3.6 wrap; 0 for junk */
    enum pdk__tag tag; /* of ours and Curator's */
    bool kazoo;        /* of a foreign one: it is kazoo's as it comes, which looks at no other name */
    int64_t session;   /* of ours */
    uint32_t attempt;  /* of ours */
};

/* Parse the name of any child of a lock path. */
struct pdk__name pdk__name_parse(const char *text);

/* The same, but for the stem, which is most of the work: a name of ours counts as one of Curator's. It is enough to
 * order a listing, which can have thousands of names. */
struct pdk__name pdk__name_glance(const char *text);

/* A library that contends on a path, as its names tell. */
struct pdk__library {
    const char *name;    /* "Curator", "go-zookeeper", "kazoo", "ZooKeeper's recipe", "an unknown recipe"; "": ours */
    const char *conduct; /* beside ours: "which ..."; "": it goes by the same rules */
};

/* The library that creates names like TEXT; ours also for junk. Static. Sources: doc/interop.md, which has it
 * measured. */
const struct pdk__library *pdk__name_library(const char *text);

/* Write the name to send in the create; the server appends the sequence number. */
void pdk__name_format(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt, enum pdk__tag tag);

/* Write the whole name of a node that is created under the number of another, without a number from the server. */
void pdk__name_format_at(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt, enum pdk__tag tag,
                         int64_t sequence);

/* Write the whole name of a member of a double barrier: "<session>-<attempt>-member". Members have no order, so the
 * server adds no number, and a repeated create cannot make a second node. */
void pdk__name_format_member(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt);

/* Is TEXT a node that this session created for this attempt, of any recipe? */
bool pdk__name_is(const char *text, int64_t session, uint32_t attempt);

#endif
