/*
 * The requests of this process's clients to the servers, counted exactly: the program has calls of the names of
 * ZooKeeper's client and of the C library, which count and go on to the real ones.
 *
 * The context of a handle identifies its client, so a client with a new handle for a new session stays one client.
 * The connections that other code of this process makes, such as four-letter words, are not counted.
 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

enum tally_kind {
    TALLY_CREATE = 0, /* of a contender's node */
    TALLY_CONTAINER,  /* of a container or another node that stays */
    TALLY_LIST,
    TALLY_READ, /* get, exists and get_acl */
    TALLY_WRITE,
    TALLY_DELETE,
    TALLY_RENEWAL, /* that renew a session: sync, exists of the root, delete of a node that never is */
    TALLY_OTHER,   /* transactions, removal of watches */
    TALLY_KINDS
};

struct tally {
    long requests[TALLY_KINDS];
    long sent, received; /* bytes */
    long connects;       /* attempts of TCP */
    long most_connects;  /* of one client within one second */
    long most_lists;     /* of one client */
    double spread;       /* seconds from the first create to that after which 2 % of the creates come */
    double last;         /* when the last create or listing was sent, as crowd_now(); 0: none was */
};

/* All counters are 0 from now on. */
void tally_begin(void);

/* Since then. */
void tally_read(struct tally *t);

double tally_last(void); /* tally.last alone, which costs nothing */

#endif
