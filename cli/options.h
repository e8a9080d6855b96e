/* Options of the sub-commands: tables of rows, read by one function. */
#ifndef PDK_CLI_OPTIONS_H
#define PDK_CLI_OPTIONS_H

#include "cli/security.h"
#include "lib/list.h"

#include <paddock/client.h>
#include <paddock/mutex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The recipe of a lock, and the side that is taken. */
enum pdk__cli_mode { MODE_MUTEX, MODE_SHARED, MODE_EXCLUSIVE, MODE_PERMITS, MODE_SEVERAL };

struct pdk__cli_options {
    const char *command; /* the sub-command, for messages */
    const char *hosts;
    const char *path;
    const char *also[PDK_MUTEX_PATHS_MAX - 1]; /* the paths that are locked with it */
    unsigned n_also;
    bool elect;             /* a leadership, not a lock */
    int mode;               /* of a lock: an enum pdk__cli_mode */
    int count;              /* of permits; 0: not given */
    int limit;              /* of the semaphore; 0: it is none */
    const char *limit_from; /* the node that has the limit; or NULL */
    const char *id;         /* of the candidate; NULL: the library's */
    bool turns;             /* the candidates lead in turns */
    pdk_client_options *client;
    struct pdk__cli_security security;
    int64_t wait_ms;       /* PDK_FOREVER; 0: do not wait */
    bool at_once;          /* it is 0, by -n or -w */
    int64_t connect_ms;    /* how long to look for a server; -1: not given, until the path is taken */
    int64_t session_ms;    /* the requested timeout */
    bool confirmed;        /* grants */
    int64_t lock_delay_ms; /* 0: none */
    int64_t min_token;     /* 0: none */
    bool look_ahead;
    bool mixed_ok;        /* contenders of another recipe may be on the path */
    const char *data;     /* of the node; NULL: an identity */
    const char *label;    /* NULL: none */
    const char *once_key; /* the command is a job that runs once for it; NULL: not so */
    int64_t every_ms;     /* or once in this period; 0: not so */
    bool done_any;        /* every run of the job counts, not only one that succeeds */
    int done_status;      /* the exit status where it is done */
    int busy_status;
    int lost_status;
    int verbose; /* 2: with the library's debugging */
    bool quiet;
    bool help, version; /* asked for */
    bool answered;      /* they were printed, and nothing remains to do */
    char **words;       /* after the options */
};

/* The kind of an option's value, and the type of the member that it is put into. */
enum pdk__cli_kind {
    KIND_FLAG,    /* bool: there is no value, and it becomes true */
    KIND_COUNT,   /* int: there is no value, and it grows by one */
    KIND_TEXT,    /* char *: of at most HIGH bytes */
    KIND_NUMBER,  /* int: from LOW to HIGH */
    KIND_SECONDS, /* int64_t: a duration from LOW to HIGH, in milliseconds */
    KIND_TOKEN,   /* int64_t */
    KIND_SIGNAL,  /* int: by name or number; 0 for "ignore" */
    KIND_OTHER    /* `take` takes it */
};

/* One option. A sub-command with options of its own puts the shared struct first in its own. */
struct pdk__cli_option {
    const char *name; /* the long one; NULL ends a table */
    char letter;      /* 0: none */
    enum pdk__cli_kind kind;
    size_t at;           /* where its member is in the sub-command's struct */
    int64_t low, high;   /* limits; a HIGH of 0: none */
    const char *implied; /* the option takes no value, and stands for this one; NULL: it takes one */
    const char *value;   /* its name in the help; NULL: by the kind */
    const char *help;    /* what it does, "%" being its default; NULL: the help has the name alone; "": not even that */
    int (*take)(struct pdk__cli_options *o, char *value); /* returns 0 or an exit status, already explained */
};

enum { PDK__CLI_TABLES_MAX = 9 };

struct pdk__cli_verb {
    const char *name;
    const char *usage, *notes;                                     /* the beginning of its help, and the end */
    const struct pdk__cli_option *tables[PDK__CLI_TABLES_MAX + 1]; /* up to NULL; --help and --version need no row */
    bool ends;                                                     /* the options end at the first other word */

    /* The defaults that differ, or NULL; the options, and the words after them, as a whole; and the work. The last two
     * return an exit status, already explained. */
    void (*begin)(struct pdk__cli_options *o);
    int (*check)(struct pdk__cli_options *o);
    int (*run)(struct pdk__cli_options *o);
};

/* Does a value follow it? */
static inline bool pdk__cli_option_has_value(const struct pdk__cli_option *row)
{
    return row->kind != KIND_FLAG && row->kind != KIND_COUNT && row->implied == NULL;
}

/* Shared tables. */
extern const struct pdk__cli_option pdk__cli_ensemble_options[]; /* how to reach the servers; what to say */
extern const struct pdk__cli_option pdk__cli_wait_options[];     /* -w, and -E for a lock that is still busy then */
extern const struct pdk__cli_option pdk__cli_nowait_options[];
extern const struct pdk__cli_option pdk__cli_node_options[]; /* ACL of created nodes; the status of a loss */
extern const struct pdk__cli_option pdk__cli_label_options[];
extern const struct pdk__cli_option pdk__cli_grant_options[]; /* the rules by which a lock is granted */
extern const struct pdk__cli_option pdk__cli_mode_options[];  /* -s and -x, -N and --limit, -l */

/* A sub-command, from its words to its exit status. O is in a struct of its own, and otherwise zero. */
int pdk__cli_verb_main(const struct pdk__cli_verb *verb, struct pdk__cli_options *o, int argc, char **argv);

/* Its parts: the defaults, with the environment, which returns 0 or an exit status, already explained; and below. */
int pdk__cli_options_begin(struct pdk__cli_options *o, const char *command);

/* This process makes no client: it needs no secret. */
void pdk__cli_options_forget(struct pdk__cli_options *o);

/* Take the options of ARGV, ARGV[0] being the verb's name, and leave the other words in `words`. Returns 0, or an exit
 * status, already explained. */
int pdk__cli_options_parse(struct pdk__cli_options *o, const struct pdk__cli_verb *verb, int argc, char **argv);

/* The index of the first word of ARGV after options of TABLE, which are not taken. A "--" that ends them is such a
 * word. ARGV[0] does not count. Negative, and already explained, when an option is not in TABLE. With --help or
 * --version among them *ASKED becomes "help" or "version", which are not freed. */
int pdk__cli_options_skip(const struct pdk__cli_option *table, int argc, char **argv, const char **asked);

/* Path I of those that are locked: 0 is `path`; NULL after the last. */
const char *pdk__cli_options_path_at(const struct pdk__cli_options *o, unsigned i);

/* For "-V". Returns 0. */
int pdk__cli_version(void);

/* Take the PATH, check that an ensemble is given, and pass to `client` what the options say of the session. Returns 0
 * or an exit status, already explained. */
int pdk__cli_options_path(struct pdk__cli_options *o, const char *path);

/* The same without a path. */
int pdk__cli_options_ensemble(struct pdk__cli_options *o);

/* Unless the command line has a label, it is the name of PROGRAM. */
void pdk__cli_options_name(struct pdk__cli_options *o, const char *program);

#endif
