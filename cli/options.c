#include "cli/options.h"

#include "cli/credentials.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/process_title.h"
#include "cli/target.h"
#include "lib/assert.h"
#include "lib/core/path.h"

#include <getopt.h>
#include <paddock/semaphore.h>
#include <paddock/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* With a wait of 0 for the lock, a server must answer within CONNECT_AT_ONCE_MS. */
enum { CONNECT_MS = 30000, CONNECT_AT_ONCE_MS = 5000 };

/* It only makes pdk_client_fd() readable: the acquisition checks the session on every turn of its loop. */
static void wake(pdk_client *c, pdk_session_state state, void *arg)
{
    (void)c;
    (void)state;
    (void)arg;
}

int pdk__cli_options_begin(struct pdk__cli_options *o, const char *command)
{
    *o = (struct pdk__cli_options){
        .command = command,
        .wait_ms = PDK_FOREVER,
        .connect_ms = -1,
        .session_ms = 10000,
        .busy_status = STATUS_BUSY,
        .lost_status = STATUS_LOST,
        .hosts = getenv("PADDOCK_HOSTS"),
        .client = pdk_client_options_new(),
    };
    if (o->client == NULL) {
        pdk__cli_message("%s", pdk_strerror(PDK_ENOMEM));
        return STATUS_INTERNAL;
    }
    pdk__cli_security_begin(&o->security);
    pdk_client_options_set_dispatch(o->client, true);
    pdk_client_options_set_on_session(o->client, wake, NULL);
    const char *credentials = getenv("PADDOCK_AUTH");
    if (credentials != NULL && *credentials != '\0' && pdk__cli_credentials_take(o->client, credentials) != 0)
        return pdk__cli_usage("%s: PADDOCK_AUTH must be SCHEME:CREDENTIALS", command);
    return 0;
}

void pdk__cli_options_forget(struct pdk__cli_options *o)
{
    pdk_client_options_free(o->client);
    o->client = NULL;
}

/* --- the shared options ------------------------------------------------------------------------------------------ */

static int take_auth(struct pdk__cli_options *o, char *value)
{
    int rc = pdk__cli_credentials_take(o->client, value);
    /* The process list shows arguments to every user; a value that was read need not stay there. */
    pdk__cli_process_title_hide(value);
    if (rc == 0)
        return 0;
    return pdk__cli_usage("%s: --auth takes SCHEME:CREDENTIALS, as digest:user:password, at most 8 times", o->command);
}

static int take_auth_file(struct pdk__cli_options *o, char *value)
{
    int rc = pdk__cli_credentials_read(o->client, value);
    if (rc == 0)
        return 0;
    if (rc < 0)
        return pdk__cli_usage("%s: --auth-file %s: %s", o->command, value, strerror(-rc));
    return pdk__cli_usage("%s: --auth-file %s: line %d is not SCHEME:CREDENTIALS, or the ninth", o->command, value, rc);
}

static int take_acl(struct pdk__cli_options *o, char *value)
{
    if (pdk__cli_credentials_acl(o->client, value) == 0)
        return 0;
    return pdk__cli_usage("%s: --acl takes SCHEME:ID:PERMS with PERMS of the letters rwcda, at most 16 times, not '%s'",
                          o->command, value);
}

static int take_also(struct pdk__cli_options *o, char *value)
{
    if (o->n_also == sizeof o->also / sizeof *o->also)
        return pdk__cli_usage("%s: at most %d paths can be locked at once", o->command, PDK_MUTEX_PATHS_MAX);
    o->also[o->n_also++] = value;
    return pdk__cli_target_path(o->command, value);
}

#define AT(member) .at = offsetof(struct pdk__cli_options, member)

enum { DAY_MS = 86400000 };

#define FILE_OF(member) KIND_TEXT, AT(security.member), .value = "FILE"
#define NAME_OF(member) KIND_TEXT, AT(security.member), .value = "NAME"

const struct pdk__cli_option pdk__cli_ensemble_options[] = {
    {"hosts", 'z', KIND_TEXT, AT(hosts), .value = "HOSTS", .help = "ensemble, h1:2181,h2:2181/chroot ($PADDOCK_HOSTS)"},
    {"session-timeout", 0, KIND_SECONDS, AT(session_ms), .low = 100, .high = DAY_MS,
     .help = "the session ends after so long a silence (%)"},
    {"connect-timeout", 0, KIND_SECONDS, AT(connect_ms), .help = "give up on servers that never answer (30)"},
    {"auth", 0, KIND_OTHER, .take = take_auth, .value = "SCHEME:CRED"},
    {"auth-file", 0, KIND_OTHER, .take = take_auth_file, .value = "FILE"},
    {"tls-ca", 0, FILE_OF(ca)},
    {"tls-cert", 0, FILE_OF(cert)},
    {"tls-key", 0, FILE_OF(key)},
    {"tls-any-name", 0, KIND_FLAG, AT(security.any_name)},
    {"sasl-user", 0, NAME_OF(user)},
    {"sasl-mechanism", 0, NAME_OF(mechanism)},
    {"password-file", 0, FILE_OF(password_file)},
    {"quiet", 'q', KIND_FLAG, AT(quiet)},
    {"verbose", 'v', KIND_COUNT, AT(verbose)},
    {0},
};

const struct pdk__cli_option pdk__cli_wait_options[] = {
    {"wait", 'w', KIND_SECONDS, AT(wait_ms), .help = "wait at most so long"},
    {"timeout", 0, KIND_SECONDS, AT(wait_ms), .help = ""},
    {"conflict-exit-code", 'E', KIND_NUMBER, AT(busy_status), .high = 255,
     .help = "exit status when busy or timed out (%)"},
    {0},
};

/* Of these and --wait, the last one counts. */
const struct pdk__cli_option pdk__cli_nowait_options[] = {
    {"nb", 'n', KIND_SECONDS, AT(wait_ms), .implied = "0"},
    {"nonblock", 0, KIND_SECONDS, AT(wait_ms), .implied = "0", .help = ""},
    {0},
};

const struct pdk__cli_option pdk__cli_node_options[] = {
    {"acl", 0, KIND_OTHER, .take = take_acl, .value = "SCHEME:ID:PERMS"},
    {"lost-exit-code", 0, KIND_NUMBER, AT(lost_status), .high = 255},
    {0},
};

const struct pdk__cli_option pdk__cli_label_options[] = {{"label", 0, KIND_TEXT, AT(label), .high = 255}, {0}};

const struct pdk__cli_option pdk__cli_grant_options[] = {
    {"confirmed", 0, KIND_FLAG, AT(confirmed)},
    {"lock-delay", 0, KIND_SECONDS, AT(lock_delay_ms), .high = DAY_MS},
    {"min-token", 0, KIND_TOKEN, AT(min_token)},
    {"look-ahead", 0, KIND_FLAG, AT(look_ahead)},
    {"data", 0, KIND_TEXT, AT(data), .high = 65536},
    {"mixed-ok", 0, KIND_FLAG, AT(mixed_ok)},
    {0},
};

/* As in flock(1), the last one counts. */
const struct pdk__cli_option pdk__cli_mode_options[] = {
    {"shared", 's', KIND_NUMBER, AT(mode), .high = MODE_EXCLUSIVE, .implied = "1",
     .help = "hold beside others that share; -x: alone"},
    {"exclusive", 'x', KIND_NUMBER, AT(mode), .high = MODE_EXCLUSIVE, .implied = "2"},
    {"exclusive", 'e', KIND_NUMBER, AT(mode), .high = MODE_EXCLUSIVE, .implied = "2", .help = ""},
    {"permits", 'N', KIND_NUMBER, AT(count), .low = 1, .high = PDK_SEMAPHORE_MAX, .value = "COUNT",
     .help = "so many permits of a semaphore of --limit (1)"},
    {"limit", 0, KIND_NUMBER, AT(limit), .low = 1, .high = PDK_SEMAPHORE_MAX},
    {"limit-from", 0, KIND_TEXT, AT(limit_from), .value = "NODE"},
    {"also", 'l', KIND_OTHER, .take = take_also, .value = "PATH"},
    {0},
};

static const struct pdk__cli_option general_options[] = {
    {"help", 'h', KIND_FLAG, AT(help)}, {"version", 'V', KIND_FLAG, AT(version)}, {0}};

/* --- values ------------------------------------------------------------------------------------------------------ */

static bool within(const struct pdk__cli_option *row, int64_t number)
{
    return number >= row->low && (row->high == 0 || number <= row->high);
}

static bool store_text(const struct pdk__cli_option *row, char *value, void *at)
{
    memcpy(at, &value, sizeof value);
    return within(row, (int64_t)strlen(value));
}

static bool store_signal(const char *value, int *signal)
{
    *signal = 0;
    return strcasecmp(value, "ignore") == 0 || pdk__cli_number_signal(value, signal);
}

/* Put VALUE to AT, as ROW says. False when it is not such a value. */
static bool store(const struct pdk__cli_option *row, char *value, void *at)
{
    switch (row->kind) {
    case KIND_FLAG:
        return *(bool *)at = true;
    case KIND_COUNT:
        return ++*(int *)at;
    case KIND_TEXT:
        return store_text(row, value, at);
    case KIND_NUMBER:
        return pdk__cli_number_whole(value, (int)row->low, (int)row->high, at);
    case KIND_SECONDS:
        return pdk__cli_number_seconds(value, at) && within(row, *(int64_t *)at);
    case KIND_TOKEN:
        return pdk__cli_number_token(value, at);
    default:
        return store_signal(value, at);
    }
}

/* Put the values that ROW takes into TEXT, for a message. */
static void describe(const struct pdk__cli_option *row, char text[64])
{
    double low = (double)row->low / 1000, high = (double)row->high / 1000;
    if (row->kind == KIND_TEXT)
        snprintf(text, 64, "at most %d bytes", (int)row->high);
    else if (row->kind == KIND_NUMBER)
        snprintf(text, 64, "a number from %d to %d", (int)row->low, (int)row->high);
    else if (row->kind == KIND_SECONDS && row->low > 0)
        snprintf(text, 64, "seconds from %g to %g", low, high);
    else if (row->kind == KIND_SECONDS && row->high > 0)
        snprintf(text, 64, "seconds up to %g", high);
    else
        strcpy(text, row->kind == KIND_SECONDS ? "a number of seconds"
                     : row->kind == KIND_TOKEN ? "a token, as PADDOCK_TOKEN has it"
                                               : "term, kill, ignore or the name of a signal");
}

static int refuse_value(const struct pdk__cli_options *o, const struct pdk__cli_option *row, const char *value)
{
    char text[64];
    assert(value != NULL && row->low <= row->high);
    describe(row, text);
    if (row->kind == KIND_TEXT)
        return pdk__cli_usage("%s: --%s takes %s", o->command, row->name, text);
    return pdk__cli_usage("%s: --%s takes %s, not '%s'", o->command, row->name, text, value);
}

static int take(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    if (row->kind == KIND_OTHER)
        return row->take(o, value);
    return store(row, value, (char *)o + row->at) ? 0 : refuse_value(o, row, value);
}

/* --- reading them ------------------------------------------------------------------------------------------------ */

enum { ROWS_MAX = 60, LONG = 256 };

/* All rows of a verb, in the form of getopt_long(): row I is found by LONG + I, or by its letter. */
struct grammar {
    const struct pdk__cli_option *rows[ROWS_MAX];
    struct option longs[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
    size_t n;
};

static void add(struct grammar *g, const struct pdk__cli_option *table)
{
    for (const struct pdk__cli_option *row = table; row->name != NULL; row++, g->n++) {
        assert(g->n < ROWS_MAX);
        g->rows[g->n] = row;
        g->longs[g->n] = (struct option){row->name, pdk__cli_option_has_value(row), NULL, LONG + (int)g->n};
        size_t at = strlen(g->letters);
        if (row->letter != 0)
            snprintf(g->letters + at, sizeof g->letters - at, "%c%s", row->letter,
                     pdk__cli_option_has_value(row) ? ":" : "");
    }
}

static void start(struct grammar *g, bool ends)
{
    *g = (struct grammar){.letters = ":"};
    if (ends)
        strcpy(g->letters, "+:");
    add(g, general_options);
    opterr = 0;
    optind = 0; /* glibc: from the start */
}

static const struct pdk__cli_option *row_of(const struct grammar *g, int option)
{
    if (option >= LONG)
        return g->rows[option - LONG];
    for (size_t i = 0; i < g->n; i++)
        if (g->rows[i]->letter == option)
            return g->rows[i];
    return NULL;
}

static int refuse(const char *command, int option, char **argv)
{
    const char *word = argv[optind - 1]; /* when it is long: optind passes a word of letters after its last letter */
    bool is_long = optopt == 0 || optopt >= LONG;
    if (option == ':' && is_long)
        return pdk__cli_usage("%s: option '%s' needs a value", command, word);
    if (option == ':')
        return pdk__cli_usage("%s: option '-%c' needs a value", command, optopt);
    if (is_long && optopt != 0)
        return pdk__cli_usage("%s: an option that takes no value: '%s'", command, word);
    if (is_long)
        return pdk__cli_usage("%s: no such option, or not enough of its name: '%s'", command, word);
    return pdk__cli_usage("%s: no such option: '-%c'", command, optopt);
}

int pdk__cli_version(void)
{
    printf("paddock %s (ZooKeeper's client: %s)\n", pdk_version(), pdk__cli_security_built());
    return 0;
}

static void answer(struct pdk__cli_options *o, const struct pdk__cli_verb *verb)
{
    o->answered = o->help || o->version;
    if (o->help)
        pdk__cli_help(verb, general_options, o);
    else if (o->version)
        pdk__cli_version();
}

int pdk__cli_options_parse(struct pdk__cli_options *o, const struct pdk__cli_verb *verb, int argc, char **argv)
{
    struct grammar g;
    int option, status = 0;
    start(&g, verb->ends);
    for (int i = 0; verb->tables[i] != NULL; i++)
        add(&g, verb->tables[i]);
    while (status == 0 && !o->answered && (option = getopt_long(argc, argv, g.letters, g.longs, NULL)) != -1) {
        const struct pdk__cli_option *row = row_of(&g, option);
        status = row == NULL ? refuse(o->command, option, argv)
                             : take(o, row, row->implied != NULL ? (char *)row->implied : optarg);
        answer(o, verb);
    }
    o->at_once = o->wait_ms == 0;
    o->words = argv + optind;
    return status;
}

int pdk__cli_verb_main(const struct pdk__cli_verb *verb, struct pdk__cli_options *o, int argc, char **argv)
{
    int status = pdk__cli_options_begin(o, verb->name);
    if (verb->begin != NULL)
        verb->begin(o);
    if (status == 0)
        status = pdk__cli_options_parse(o, verb, argc, argv);
    if (status == 0 && !o->answered)
        status = verb->check(o);
    if (status == 0 && !o->answered)
        status = verb->run(o);
    pdk__cli_options_forget(o);
    return status;
}

int pdk__cli_options_skip(const struct pdk__cli_option *table, int argc, char **argv, const char **asked)
{
    struct grammar g;
    int option, end = 1;
    start(&g, true);
    add(&g, table);
    while ((option = getopt_long(argc, argv, g.letters, g.longs, NULL)) != -1) {
        const struct pdk__cli_option *row = row_of(&g, option);
        if (row == NULL) {
            refuse("before the command", option, argv);
            return -1;
        }
        if (row == &general_options[0] || row == &general_options[1]) {
            *asked = row->name;
            return end;
        }
        end = optind;
    }
    return end; /* a "--" moves optind on */
}

/* --- the path ---------------------------------------------------------------------------------------------------- */

/* The option that makes the lock a semaphore. */
static const char *limit_option(const struct pdk__cli_options *o)
{
    return o->limit_from != NULL ? "--limit-from" : "--limit";
}

/* Several paths are locked as mutexes, and none twice. */
static int check_also(struct pdk__cli_options *o, const char *path)
{
    if (o->n_also == 0)
        return 0;
    if (o->mode != MODE_MUTEX || o->limit > 0 || o->limit_from != NULL || o->lock_delay_ms > 0)
        return pdk__cli_usage("%s: -l goes with neither -s, -x, %s nor --lock-delay", o->command, limit_option(o));
    o->mode = MODE_SEVERAL;
    o->path = path;
    for (unsigned i = 0; i < o->n_also; i++)
        for (unsigned j = 0; j <= i; j++)
            if (strcmp(o->also[i], j == 0 ? path : o->also[j - 1]) == 0)
                return pdk__cli_usage("%s: a path is given twice: %s", o->command, o->also[i]);
    return 0;
}

const char *pdk__cli_options_path_at(const struct pdk__cli_options *o, unsigned i)
{
    if (i == 0)
        return o->path;
    return i <= o->n_also ? o->also[i - 1] : NULL;
}

static int check_limit_from(const struct pdk__cli_options *o)
{
    char text[PDK__CLI_SHORT];
    if (o->limit_from == NULL || pdk__path_valid(o->limit_from))
        return 0;
    return pdk__cli_usage("%s: --limit-from takes the path of a node, not '%s'", o->command,
                          pdk__cli_short(o->limit_from, text));
}

/* The options that choose the recipe fit together. */
static int check_mode(struct pdk__cli_options *o)
{
    if (o->limit_from != NULL && o->limit == 0) /* until the node was read */
        o->limit = o->count > 0 ? o->count : 1;
    if (o->limit > 0 && o->mode != MODE_MUTEX)
        return pdk__cli_usage("%s: %s goes with neither -s nor -x", o->command, limit_option(o));
    if (o->count > o->limit)
        return pdk__cli_usage("%s: -N takes at most as many permits as --limit says there are", o->command);
    if (o->limit > 0) {
        o->mode = MODE_PERMITS;
        o->count = o->count > 0 ? o->count : 1;
    }
    if (o->mode == MODE_PERMITS && o->look_ahead)
        return pdk__cli_usage("%s: --look-ahead does not go with %s", o->command, limit_option(o));
    if (o->mode != MODE_MUTEX && o->lock_delay_ms > 0)
        return pdk__cli_usage("%s: --lock-delay goes with neither -s, -x nor %s", o->command, limit_option(o));
    return 0;
}

int pdk__cli_options_path(struct pdk__cli_options *o, const char *path)
{
    if (path == NULL)
        return pdk__cli_usage("%s: no lock path given; 'paddock %s --help' tells more", o->command, o->command);
    int status = pdk__cli_target_path(o->command, path);
    if (status != 0)
        return status;
    status = check_also(o, path);
    if (status == 0)
        status = check_limit_from(o);
    if (status == 0)
        status = check_mode(o);
    o->path = path;
    return status == 0 ? pdk__cli_options_ensemble(o) : status;
}

int pdk__cli_options_ensemble(struct pdk__cli_options *o)
{
    if (o->hosts == NULL || *o->hosts == '\0')
        return pdk__cli_usage("%s: no ensemble given: use -z HOST:PORT or set PADDOCK_HOSTS", o->command);
    int status = pdk__cli_target_hosts(o->command, o->hosts);
    if (status != 0)
        return status;
    pdk_client_options_set_session_timeout_ms(o->client, (int)o->session_ms);
    if (o->label != NULL)
        pdk_client_options_set_label(o->client, o->label);
    if (o->connect_ms < 0)
        o->connect_ms = o->at_once ? CONNECT_AT_ONCE_MS : CONNECT_MS;
    return pdk__cli_security_take(&o->security, o->command, o->client);
}

/* Arguments may hold secrets, and every client may read the label: the command's name alone. */
void pdk__cli_options_name(struct pdk__cli_options *o, const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash != NULL ? slash + 1 : program;
    if (o->label == NULL && strlen(name) < 256)
        pdk_client_options_set_label(o->client, name);
}
