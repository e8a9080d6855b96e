/*
 * The runs of a job that is tied to a lock: the record beside the lock's path, as the looks show it. Any client may
 * have written it. Its times are of the servers' clock; ages are by this machine's.
 */
#ifndef PDK_CLI_LAST_RUN_H
#define PDK_CLI_LAST_RUN_H

#include <jansson.h>
#include <paddock/contenders.h>
#include <paddock/once.h>

#define PDK__CLI_RECORD ".last-run"

enum { PDK__CLI_RUN_TEXT = 2048 };

struct pdk__cli_last_run {
    pdk_runs *runs; /* NULL: there is no record, or none that can be read */
    int rc;         /* why it cannot be read: PDK_ERECORD or PDK_EACCES; else 0 */
    char why[200];  /* the same in words */
};

/* Read the record beside PATH: one request. 0 also where there is none, or none that can be read. RUN, which was zero
 * or was read before, is to be given to pdk__cli_last_run_free(). */
int pdk__cli_last_run_read(struct pdk__cli_last_run *run, pdk_client *c, const char *path, int64_t timeout_ms);

/* LIST is of PATH, and was listed after the record was read. A run without an end, whose contender holds the lock no
 * more, may have ended between: only then the record is read again. */
int pdk__cli_last_run_confirm(struct pdk__cli_last_run *run, pdk_client *c, const char *path, int64_t timeout_ms,
                              const pdk_contender_list *list);

void pdk__cli_last_run_free(struct pdk__cli_last_run *run);

bool pdk__cli_run_exists(const struct pdk__cli_last_run *run, pdk_run which);

/* Has the last run no end? Is it under way: does its contender, of LIST, hold the lock? */
bool pdk__cli_last_run_is_open(const struct pdk__cli_last_run *run);
bool pdk__cli_last_run_is_running(const struct pdk__cli_last_run *run, const pdk_contender_list *list);

/* How long ago a run began, never negative. And how long it is until then, where that is in the future, else 0. */
int64_t pdk__cli_run_age_ms(const struct pdk__cli_last_run *run, pdk_run which);
int64_t pdk__cli_run_ahead_ms(const struct pdk__cli_last_run *run, pdk_run which);

/* "db7 pid 12 (nightly)", as of a contender; for pdk__cli_printable(). */
void pdk__cli_run_owner(const struct pdk__cli_last_run *run, pdk_run which, char *text, size_t size);

/* Of the last run: "ok", "exit 1", "running" or "no end recorded". */
void pdk__cli_last_run_status(const struct pdk__cli_last_run *run, const pdk_contender_list *list, char *text,
                              size_t size);

/* "last run: 2h04m ago, ok, by db7 pid 12 (nightly), every 1h00m" in a line on OUT, after INDENT; nothing where there
 * is no run. */
void pdk__cli_last_run_print(FILE *out, const struct pdk__cli_last_run *run, const pdk_contender_list *list,
                             const char *indent);

/* The same for a column: "2h04m ago ok", "running", "unreadable"; "-" where there is none. */
void pdk__cli_last_run_short(const struct pdk__cli_last_run *run, const pdk_contender_list *list, char *text,
                             size_t size);

/* Put "last_run" and "last_done" into OBJECT, those that exist. */
void pdk__cli_last_run_report(const struct pdk__cli_last_run *run, const pdk_contender_list *list, json_t *object);

#endif
