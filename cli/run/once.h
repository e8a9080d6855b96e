/*
 * The job of `paddock lock --once` and `--every`: what an acquisition has to ask before its lock, under it, and before
 * its release.
 */
#ifndef PDK_CLI_ONCE_H
#define PDK_CLI_ONCE_H

#include "cli/options.h"

#include <paddock/once.h>

struct pdk__cli_acquisition;

struct pdk__cli_once {
    pdk_once *job;                               /* NULL: the command is none */
    int (*send)(struct pdk__cli_acquisition *c); /* the call under way, or to be made again; NULL: none */
    void (*then)(struct pdk__cli_acquisition *c, int rc);
    bool begun;      /* and to be recorded when it ends */
    int64_t until;   /* when the session has ended in which its end could be recorded */
    int status;      /* of the command; -1: it is not known */
    int unrecorded;  /* why its end could not be recorded, or 0 */
    int64_t done_ms; /* when the last run began that counts, by the servers' clock; 0: none is known */
};

/* Options for it, of `paddock lock` alone; and rows with which others refuse them. */
extern const struct pdk__cli_option pdk__cli_once_options[];
extern const struct pdk__cli_option pdk__cli_no_once_options[];

/* They go together. Returns 0 or an exit status, already explained. */
int pdk__cli_once_check(const struct pdk__cli_options *o);

bool pdk__cli_is_job(const struct pdk__cli_options *o);

/* With the lock that the acquisition has made. */
int pdk__cli_once_make(struct pdk__cli_acquisition *c);

/* Ask, begin or end, and THEN, with the outcome. It is tried again for as long as that is not known. */
void pdk__cli_once_ask(struct pdk__cli_acquisition *c, void (*then)(struct pdk__cli_acquisition *c, int rc));
void pdk__cli_once_begin(struct pdk__cli_acquisition *c, void (*then)(struct pdk__cli_acquisition *c, int rc));
void pdk__cli_once_end(struct pdk__cli_acquisition *c, void (*then)(struct pdk__cli_acquisition *c, int rc));

/* On every turn of the loop. */
void pdk__cli_once_step(struct pdk__cli_acquisition *c);

/* Which run has done the job, for a message. */
void pdk__cli_once_describe(const struct pdk__cli_acquisition *c, char *text, size_t size);

/* After the client was closed. */
void pdk__cli_once_free(struct pdk__cli_acquisition *c);

#endif
