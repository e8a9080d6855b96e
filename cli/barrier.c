#include "cli/call.h"
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/incident.h"
#include "cli/json.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/spawn.h"

#include <errno.h>
#include <paddock/barrier.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] = "Usage: paddock barrier [wait] [OPTION]... PATH\n"
                            "       paddock barrier set|remove [OPTION]... PATH\n"
                            "       paddock barrier -N COUNT [OPTION]... PATH [--] CMD [ARG]...\n"
                            "Wait while the barrier PATH is set (-n: look once); set it, or remove it. With\n"
                            "-N: enter together with COUNT members, run a command, and leave together.\n";

static const char notes[] = "The command gets PADDOCK_PATH.\n"
                            "Exit: 0, or the command's own, or 128+signal; 64 usage, 69 no ensemble,\n"
                            "70 internal, 76 lost, 77 not permitted, 126 cannot run, 127 not found.\n"
                            "See paddock(1).\n";

enum task { WAIT, SET, REMOVE, ENTER };

struct barrier {
    struct pdk__cli_options options; /* first */
    enum task task;
    int members;
    int64_t leave_ms;
    bool json;
    char **argv;
    /* at work */
    pdk_client *client;
    pdk_barrier *barrier;
    struct pdk__cli_spawned companion;
    int signals;
    char why[256]; /* the last call has failed */
};

/* --- the words --------------------------------------------------------------------------------------------------- */

#define AT(member) .at = offsetof(struct barrier, member)

static const struct pdk__cli_option own_options[] = {
    {"members", 'N', KIND_NUMBER, AT(members), .low = 1, .high = PDK_BARRIER_MEMBERS_MAX, .value = "COUNT",
     .help = "how many members enter together"},
    {"leave-wait", 0, KIND_SECONDS, AT(leave_ms), .help = "wait at most so long for the others to leave"},
    {"json", 0, KIND_FLAG, AT(json), .help = "of wait, set and remove: a JSON object"},
    {0}};

#define TABLES                                                                                                         \
    {                                                                                                                  \
        own_options, pdk__cli_nowait_options, pdk__cli_wait_options, pdk__cli_ensemble_options,                        \
            pdk__cli_label_options, pdk__cli_node_options                                                              \
    }

static const struct pdk__cli_verb verb_of_task = {"barrier", usage, notes, TABLES, .ends = false};

static bool find_task(const char *word, enum task *task)
{
    static const char *const names[] = {[WAIT] = "wait", [SET] = "set", [REMOVE] = "remove"};
    for (size_t i = 0; word != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) {
            *task = (enum task)i;
            return true;
        }
    return false;
}

static int count_words(char **words)
{
    int n = 0;
    while (words[n] != NULL)
        n++;
    return n;
}

static int check(struct barrier *b, bool named)
{
    char **words = b->options.words;
    if (b->members == 0) {
        if (b->leave_ms != PDK_FOREVER)
            return pdk__cli_usage("barrier: --leave-wait goes with -N");
        return *words != NULL && words[1] != NULL
                   ? pdk__cli_usage("barrier: one path at a time; a command needs -N: '%s'", words[1])
                   : 0;
    }
    b->task = ENTER;
    b->argv = words + (*words != NULL);
    if (*b->argv != NULL && strcmp(*b->argv, "--") == 0)
        b->argv++;
    if (named || b->json)
        return pdk__cli_usage("barrier: -N enters, and goes with neither wait, set, remove nor --json");
    return *words != NULL && *b->argv == NULL ? pdk__cli_usage("barrier: no command given") : 0;
}

static int check_words(struct pdk__cli_options *o)
{
    struct barrier *b = PDK__MEMBER(o, struct barrier, options);
    bool named = find_task(*o->words, &b->task);
    int status = named ? pdk__cli_options_parse(o, &verb_of_task, count_words(o->words), o->words) : 0;
    if (status != 0 || o->answered)
        return status;
    if (o->words[0] == NULL)
        return pdk__cli_usage("barrier: no path given; 'paddock barrier --help' tells more");
    status = check(b, named);
    if (status == 0 && b->argv != NULL && *b->argv != NULL)
        pdk__cli_options_name(o, *b->argv);
    return status == 0 ? pdk__cli_options_path(o, *o->words) : status;
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

/* The reason of a failure is the calling thread's. */
static int note(struct barrier *b, int rc)
{
    pdk_barrier_last_error(b->barrier, b->why, sizeof b->why);
    return rc;
}

static int call_simple(void *arg)
{
    struct barrier *b = arg;
    const struct pdk__cli_options *o = &b->options;
    if (b->task == WAIT)
        return note(b, pdk_barrier_wait(b->barrier, o->wait_ms));
    int64_t patience_ms = o->wait_ms > 0 || o->wait_ms == PDK_FOREVER ? o->wait_ms : o->connect_ms;
    return note(b, b->task == SET ? pdk_barrier_set(b->barrier, patience_ms)
                                  : pdk_barrier_remove(b->barrier, patience_ms));
}

static int call_enter(void *arg)
{
    struct barrier *b = arg;
    return note(b, pdk_barrier_enter(b->barrier, b->options.wait_ms));
}

static int call_leave(void *arg)
{
    struct barrier *b = arg;
    return note(b, pdk_barrier_leave(b->barrier, b->leave_ms));
}

static void report(const struct barrier *b, const char *what)
{
    if (!b->options.quiet)
        pdk__cli_message("%s: %s", b->options.path, what);
}

/* A failure of the barrier itself, other than that its time was over. Returns the exit status. */
static int explain(const struct barrier *b, int rc)
{
    char why[256] = "", text[PDK__CLI_INCIDENT];
    if (rc == PDK_ELOST)
        report(b, "the session was lost inside: the others may have left before");
    else {
        pdk_client_last_error(b->client, why, sizeof why);
        pdk__cli_incident(&b->options, rc, b->why[0] != '\0' ? b->why : why, text);
        pdk__cli_message("%s", text);
    }
    return rc == PDK_ELOST ? b->options.lost_status : pdk__cli_status_of(rc, b->options.busy_status);
}

/* RC is that of a call, which SIGNAL ended unless it is 0. WAITED: what the time was over for. */
static int judge(const struct barrier *b, int rc, int signal, const char *waited)
{
    if (signal != 0 && rc != 0)
        return STATUS_SIGNAL + signal;
    if (rc == PDK_ETIMEDOUT || rc == PDK_EBUSY) {
        report(b, rc == PDK_EBUSY ? "as many members as it has came before" : waited);
        return b->options.busy_status;
    }
    return rc == 0 ? 0 : explain(b, rc);
}

/* --- the barrier ------------------------------------------------------------------------------------------------- */

static int print_json(const struct barrier *b, bool set)
{
    json_t *top = json_object();
    pdk__cli_json_text(top, "path", b->options.path);
    json_object_set_new(top, "set", json_boolean(set));
    return pdk__cli_json_print(top);
}

static int run_simple(struct barrier *b)
{
    int signal = 0;
    int rc = pdk_barrier_new(&b->barrier, b->client, b->options.path);
    if (rc == 0)
        rc = pdk__cli_call_run(b->signals, call_simple, b, &signal);
    int status = judge(b, rc, signal, b->task == WAIT ? "the barrier is set" : "no answer in time");
    bool late = b->task == WAIT && rc == PDK_ETIMEDOUT && signal == 0;
    if (b->json && (rc == 0 || late) && print_json(b, late || b->task == SET) != 0)
        status = STATUS_INTERNAL;
    return status;
}

/* --- the double barrier ------------------------------------------------------------------------------------------ */

/* The terminal's signals reach the command without us. */
static int await_command(struct barrier *b)
{
    int status;
    bool by_terminal = false;
    while (waitpid(b->companion.pid, &status, WNOHANG) != b->companion.pid) {
        struct pollfd fd = {.fd = b->signals, .events = POLLIN};
        poll(&fd, 1, -1);
        int signal = pdk__cli_call_read(b->signals, &by_terminal);
        if (signal == 0 || signal == SIGCHLD || by_terminal)
            continue;
        kill(b->companion.pid, signal);
        kill(b->companion.pid, SIGCONT); /* a stopped command acts on nothing else */
    }
    return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_command(struct barrier *b)
{
    int why = pdk__cli_spawn_go(&b->companion);
    if (why != 0)
        pdk__cli_message("cannot run '%s': %s", b->argv[0], strerror(why));
    return await_command(b);
}

/* The command's status counts before that of the leave. */
static int stay(struct barrier *b)
{
    int signal = 0;
    int status = run_command(b);
    int rc = pdk__cli_call_run(b->signals, call_leave, b, &signal);
    int left = judge(b, rc, signal, "other members are still inside");
    return status != 0 ? status : left;
}

static int run_member(struct barrier *b)
{
    int signal = 0;
    int rc = pdk_barrier_new_double(&b->barrier, b->client, b->options.path, (unsigned)b->members);
    if (rc == 0)
        rc = pdk__cli_call_run(b->signals, call_enter, b, &signal);
    if (rc == 0 && signal == 0)
        return stay(b);
    pdk__cli_spawn_dismiss(&b->companion);
    /* The signal may have come right after the entry: the command is not started, and the end of the session is the
     * leave. */
    return signal != 0 ? STATUS_SIGNAL + signal : judge(b, rc, signal, "not enough members have come");
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static int become(const void *arg)
{
    const struct barrier *b = arg;
    execvp(b->argv[0], b->argv);
    return errno;
}

/* The command's process stays in our process group: the terminal's signals reach it without us. */
static int prepare(struct barrier *b)
{
    if (b->task != ENTER)
        return 0;
    setenv("PADDOCK_PATH", b->options.path, 1);
    signal(SIGCHLD, SIG_DFL); /* an ignored one would reap our child */
    struct pdk__cli_errand errand = {.become = become, .arg = b, .death_signal = SIGTERM};
    if (pdk__cli_spawn(&b->companion, &errand) == 0)
        return 0;
    pdk__cli_message("cannot fork: %s", strerror(errno));
    return STATUS_INTERNAL;
}

/* Until there is a session, signals end us as they end any program. ZooKeeper's threads and the library's take none. */
static int run(struct pdk__cli_options *o)
{
    struct barrier *b = PDK__MEMBER(o, struct barrier, options);
    int status = prepare(b);
    if (status != 0)
        return status;
    pdk__cli_connect_tell(&b->options);
    int rc = pdk__cli_connect(&b->options, &b->client);
    if (rc != 0) {
        status = pdk__cli_report_failure(&b->options, b->client, rc);
        if (b->task == ENTER)
            pdk__cli_spawn_dismiss(&b->companion);
    } else {
        b->signals = pdk__cli_call_signals();
        status = b->task == ENTER ? run_member(b) : run_simple(b);
    }
    if (b->client != NULL)
        pdk_client_close(b->client);
    pdk_barrier_free(b->barrier);
    pdk_client_free(b->client);
    return status;
}

/* Before the path, where a command may follow; and after the word for the task. */
static const struct pdk__cli_verb verb = {
    "barrier", usage, notes, TABLES, .ends = true, .check = check_words, .run = run,
};

int pdk__cli_barrier_main(int argc, char **argv)
{
    struct barrier b = {.leave_ms = PDK_FOREVER};
    return pdk__cli_verb_main(&verb, &b.options, argc, argv);
}
