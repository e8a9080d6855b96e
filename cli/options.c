#include "cli/options.h"

#include "cli/credentials.h"
#include "cli/number.h"
#include "cli/say.h"
#include "cli/target.h"
#include "cli/title.h"

#include <getopt.h>
#include <paddock/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With a wait of 0 for the lock, a server must answer within CONNECT_AT_ONCE_MS. */
enum { CONNECT_MS = 30000, CONNECT_AT_ONCE_MS = 5000 };

/* It only makes pdk_client_fd() readable: the claim checks the session on every turn of its loop. */
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
        pdk__cli_say("%s", pdk_strerror(PDK_ENOMEM));
        return STATUS_INTERNAL;
    }
    pdk_client_options_set_dispatch(o->client, true);
    pdk_client_options_set_on_session(o->client, wake, NULL);
    const char *credentials = getenv("PADDOCK_AUTH");
    if (credentials != NULL && *credentials != '\0' && pdk__cli_credentials_take(o->client, credentials) != 0)
        return pdk__cli_usage("%s: PADDOCK_AUTH must be SCHEME:CREDENTIALS", command);
    return 0;
}

void pdk__cli_options_end(struct pdk__cli_options *o) { pdk_client_options_free(o->client); }

int pdk__cli_options_session(struct pdk__cli_options *o, int ms)
{
    o->session_ms = ms;
    return pdk_client_options_set_session_timeout_ms(o->client, ms);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

int pdk__cli_options_seconds(const struct pdk__cli_options *o, const struct pdk__cli_option *row, const char *value,
                             int64_t *ms)
{
    if (pdk__cli_number_seconds(value, ms))
        return 0;
    return pdk__cli_usage("%s: --%s takes a number of seconds, not '%s'", o->command, row->name, value);
}

int pdk__cli_options_status(const struct pdk__cli_options *o, const struct pdk__cli_option *row, const char *value,
                            int *status)
{
    if (pdk__cli_number_whole(value, 0, 255, status))
        return 0;
    return pdk__cli_usage("%s: --%s takes a number from 0 to 255, not '%s'", o->command, row->name, value);
}

/* --- the ensemble ------------------------------------------------------------------------------------------------ */

static int take_hosts(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    (void)row;
    o->hosts = value;
    return 0;
}

static int take_session_timeout(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    int64_t ms;
    (void)row;
    if (pdk__cli_number_seconds(value, &ms) && ms <= 86400000 && pdk__cli_options_session(o, (int)ms) == 0)
        return 0;
    return pdk__cli_usage("%s: --session-timeout takes seconds from 0.1 to 86400, not '%s'", o->command, value);
}

static int take_connect_timeout(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    return pdk__cli_options_seconds(o, row, value, &o->connect_ms);
}

static int take_auth(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    (void)row;
    int rc = pdk__cli_credentials_take(o->client, value);
    /* The process list shows arguments to every user; a value that was read need not stay there. */
    pdk__cli_title_hide(value);
    if (rc == 0)
        return 0;
    return pdk__cli_usage("%s: --auth takes SCHEME:CREDENTIALS, as digest:user:password", o->command);
}

static int take_auth_file(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    (void)row;
    int rc = pdk__cli_credentials_read(o->client, value);
    if (rc == 0)
        return 0;
    if (rc < 0)
        return pdk__cli_usage("%s: --auth-file %s: %s", o->command, value, strerror(-rc));
    return pdk__cli_usage("%s: --auth-file %s: line %d is not SCHEME:CREDENTIALS", o->command, value, rc);
}

const struct pdk__cli_option pdk__cli_ensemble_options[] = {
    {"hosts", 'z', take_hosts, 0},
    {"session-timeout", 0, take_session_timeout, 0},
    {"connect-timeout", 0, take_connect_timeout, 0},
    {"auth", 0, take_auth, 0},
    {"auth-file", 0, take_auth_file, 0},
    {"quiet", 'q', NULL, offsetof(struct pdk__cli_options, quiet)},
    {"verbose", 'v', NULL, offsetof(struct pdk__cli_options, verbose)},
    {0},
};

/* --- the wait ---------------------------------------------------------------------------------------------------- */

static int take_wait(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    o->at_once = false; /* the last one counts */
    return pdk__cli_options_seconds(o, row, value, &o->wait_ms);
}

static int take_busy_status(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    return pdk__cli_options_status(o, row, value, &o->busy_status);
}

const struct pdk__cli_option pdk__cli_wait_options[] = {
    {"wait", 'w', take_wait, 0},
    {"timeout", 0, take_wait, 0},
    {"conflict-exit-code", 'E', take_busy_status, 0},
    {0},
};

const struct pdk__cli_option pdk__cli_nowait_options[] = {
    {"nb", 'n', NULL, offsetof(struct pdk__cli_options, at_once)},
    {"nonblock", 0, NULL, offsetof(struct pdk__cli_options, at_once)},
    {0},
};

/* --- the nodes --------------------------------------------------------------------------------------------------- */

static int take_label(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    (void)row;
    o->labelled = true;
    if (pdk_client_options_set_label(o->client, value) == 0)
        return 0;
    return pdk__cli_usage("%s: --label takes at most 255 bytes", o->command);
}

static int take_acl(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    (void)row;
    if (pdk__cli_credentials_acl(o->client, value) == 0)
        return 0;
    return pdk__cli_usage("%s: --acl takes SCHEME:ID:PERMS with PERMS of the letters rwcda, not '%s'", o->command,
                          value);
}

static int take_lost_status(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    return pdk__cli_options_status(o, row, value, &o->lost_status);
}

const struct pdk__cli_option pdk__cli_node_options[] = {
    {"acl", 0, take_acl, 0}, {"lost-exit-code", 0, take_lost_status, 0}, {0}};

const struct pdk__cli_option pdk__cli_label_options[] = {{"label", 0, take_label, 0}, {0}};

/* --- the grant --------------------------------------------------------------------------------------------------- */

static int take_lock_delay(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    if (pdk__cli_number_seconds(value, &o->lock_delay_ms) && o->lock_delay_ms <= 86400000)
        return 0;
    return pdk__cli_usage("%s: --%s takes seconds up to 86400, not '%s'", o->command, row->name, value);
}

static int take_min_token(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    if (pdk__cli_number_token(value, &o->min_token))
        return 0;
    return pdk__cli_usage("%s: --%s takes a token, as PADDOCK_TOKEN has it, not '%s'", o->command, row->name, value);
}

static int take_data(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    o->data = value;
    if (strlen(value) <= 65536)
        return 0;
    return pdk__cli_usage("%s: --%s takes at most 65536 bytes", o->command, row->name);
}

const struct pdk__cli_option pdk__cli_grant_options[] = {
    {"confirmed", 0, NULL, offsetof(struct pdk__cli_options, confirmed)},
    {"lock-delay", 0, take_lock_delay, 0},
    {"min-token", 0, take_min_token, 0},
    {"data", 0, take_data, 0},
    {0},
};

int pdk__cli_version(void)
{
    printf("paddock %s\n", pdk_version());
    return 0;
}

/* --- reading them ------------------------------------------------------------------------------------------------ */

static const struct pdk__cli_option asking[] = {{"help", 'h', NULL, offsetof(struct pdk__cli_options, help)},
                                                {"version", 'V', NULL, offsetof(struct pdk__cli_options, version)},
                                                {0}};

enum { ROWS_MAX = 40, LONG = 256 };

/* All rows of a verb, in the form of getopt_long(): row I is found by LONG + I, or by its letter. */
struct grammar {
    const struct pdk__cli_option *rows[ROWS_MAX];
    struct option longs[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
    size_t n;
};

static void add(struct grammar *g, const struct pdk__cli_option *table)
{
    for (const struct pdk__cli_option *row = table; row->name != NULL && g->n < ROWS_MAX; row++, g->n++) {
        g->rows[g->n] = row;
        g->longs[g->n] = (struct option){row->name, row->take != NULL, NULL, LONG + (int)g->n};
        size_t at = strlen(g->letters);
        if (row->letter != 0)
            snprintf(g->letters + at, sizeof g->letters - at, "%c%s", row->letter, row->take != NULL ? ":" : "");
    }
}

static void begin(struct grammar *g, bool ends)
{
    *g = (struct grammar){.letters = ":"};
    if (ends)
        strcpy(g->letters, "+:");
    add(g, asking);
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

static int take(struct pdk__cli_options *o, const struct pdk__cli_option *row)
{
    if (row->take != NULL)
        return row->take(o, row, optarg);
    bool *flag = (bool *)((char *)o + row->flag);
    o->debug = o->debug || (flag == &o->verbose && *flag);
    *flag = true;
    return 0;
}

static void answer(struct pdk__cli_options *o, const struct pdk__cli_verb *verb)
{
    o->answered = o->help || o->version;
    if (o->help)
        fputs(verb->help, stdout);
    else if (o->version)
        pdk__cli_version();
}

int pdk__cli_options_parse(struct pdk__cli_options *o, const struct pdk__cli_verb *verb, int argc, char **argv)
{
    struct grammar g;
    int option, status = 0;
    begin(&g, verb->ends);
    for (int i = 0; verb->tables[i] != NULL; i++)
        add(&g, verb->tables[i]);
    while (status == 0 && !o->answered && (option = getopt_long(argc, argv, g.letters, g.longs, NULL)) != -1) {
        const struct pdk__cli_option *row = row_of(&g, option);
        status = row != NULL ? take(o, row) : refuse(o->command, option, argv);
        answer(o, verb);
    }
    if (o->at_once)
        o->wait_ms = 0;
    o->at_once = o->wait_ms == 0;
    o->words = argv + optind;
    return status;
}

int pdk__cli_options_skip(const struct pdk__cli_option *table, int argc, char **argv)
{
    struct grammar g;
    int option, end = 1;
    begin(&g, true);
    add(&g, table);
    while ((option = getopt_long(argc, argv, g.letters, g.longs, NULL)) != -1) {
        const struct pdk__cli_option *row = row_of(&g, option);
        if (row == &asking[0] || row == &asking[1])
            return optind - 1;
        if (row == NULL) {
            refuse("before the command", option, argv);
            return -1;
        }
        end = optind;
    }
    return end; /* a "--" moves optind on */
}

/* --- the path ---------------------------------------------------------------------------------------------------- */

int pdk__cli_options_path(struct pdk__cli_options *o, const char *path)
{
    if (path == NULL)
        return pdk__cli_usage("%s: no lock path given; 'paddock %s --help' tells more", o->command, o->command);
    int status = pdk__cli_target_path(o->command, path);
    if (status != 0)
        return status;
    if (o->hosts == NULL || *o->hosts == '\0')
        return pdk__cli_usage("%s: no ensemble given: use -z HOST:PORT or set PADDOCK_HOSTS", o->command);
    status = pdk__cli_target_hosts(o->command, o->hosts);
    if (status != 0)
        return status;
    o->path = path;
    if (o->connect_ms < 0)
        o->connect_ms = o->at_once ? CONNECT_AT_ONCE_MS : CONNECT_MS;
    return 0;
}
