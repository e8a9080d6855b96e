#include "cli/options.h"

#include "cli/credentials.h"
#include "cli/number.h"
#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing to do but to make pdk_client_fd() readable: the claim looks at the session on every turn of its loop. */
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
        .connect_ms = 30000,
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

static int take_seconds(const struct pdk__cli_options *o, const char *name, int64_t *ms)
{
    if (pdk__cli_number_seconds(optarg, ms))
        return 0;
    return pdk__cli_usage("%s: %s takes a number of seconds, not '%s'", o->command, name, optarg);
}

static int take_status(const struct pdk__cli_options *o, const char *name, int *status)
{
    if (pdk__cli_number_whole(optarg, 0, 255, status))
        return 0;
    return pdk__cli_usage("%s: %s takes a number from 0 to 255, not '%s'", o->command, name, optarg);
}

int pdk__cli_options_session(struct pdk__cli_options *o, int ms)
{
    o->session_ms = ms;
    return pdk_client_options_set_session_timeout_ms(o->client, ms);
}

static int take_session_timeout(struct pdk__cli_options *o)
{
    int64_t ms;
    if (pdk__cli_number_seconds(optarg, &ms) && ms <= 86400000 && pdk__cli_options_session(o, (int)ms) == 0)
        return 0;
    return pdk__cli_usage("%s: --session-timeout takes seconds from 0.1 to 86400, not '%s'", o->command, optarg);
}

static int take_label(struct pdk__cli_options *o)
{
    o->labelled = true;
    if (pdk_client_options_set_label(o->client, optarg) == 0)
        return 0;
    return pdk__cli_usage("%s: --label takes at most 255 bytes", o->command);
}

static int take_auth(struct pdk__cli_options *o)
{
    int rc = pdk__cli_credentials_take(o->client, optarg);
    /* The process list shows arguments to everybody; what was read need not stay there. */
    memset(optarg, 'x', strlen(optarg));
    if (rc == 0)
        return 0;
    return pdk__cli_usage("%s: --auth takes SCHEME:CREDENTIALS, as digest:user:password", o->command);
}

static int take_auth_file(struct pdk__cli_options *o)
{
    int rc = pdk__cli_credentials_read(o->client, optarg);
    if (rc == 0)
        return 0;
    if (rc < 0)
        return pdk__cli_usage("%s: --auth-file %s: %s", o->command, optarg, strerror(-rc));
    return pdk__cli_usage("%s: --auth-file %s: line %d is not SCHEME:CREDENTIALS", o->command, optarg, rc);
}

static int take_acl(struct pdk__cli_options *o)
{
    if (pdk__cli_credentials_acl(o->client, optarg) == 0)
        return 0;
    return pdk__cli_usage("%s: --acl takes SCHEME:ID:PERMS with PERMS of the letters rwcda, not '%s'", o->command,
                          optarg);
}

static int refuse(const struct pdk__cli_options *o, int option, char **argv)
{
    const char *word = argv[optind - 1];
    bool is_long = strncmp(word, "--", 2) == 0;
    if (option == ':' && is_long)
        return pdk__cli_usage("%s: option '%s' needs a value", o->command, word);
    if (option == ':')
        return pdk__cli_usage("%s: option '-%c' needs a value", o->command, optopt);
    if (is_long && optopt != 0)
        return pdk__cli_usage("%s: an option that takes no value: '%s'", o->command, word);
    if (is_long)
        return pdk__cli_usage("%s: no such option, or not enough of its name: '%s'", o->command, word);
    return pdk__cli_usage("%s: no such option: '-%c'", o->command, optopt);
}

int pdk__cli_options_take(struct pdk__cli_options *o, int option, char **argv)
{
    switch (option) {
    case 'z':
        o->hosts = optarg;
        return 0;
    case 'n':
        o->wait_ms = 0;
        return 0;
    case 'w':
        return take_seconds(o, "-w", &o->wait_ms);
    case 'E':
        return take_status(o, "-E", &o->busy_status);
    case 'v':
        o->verbose = true;
        return 0;
    case 'q':
        o->quiet = true;
        return 0;
    case OPT_LOST_STATUS:
        return take_status(o, "--lost-exit-code", &o->lost_status);
    case OPT_SESSION_TIMEOUT:
        return take_session_timeout(o);
    case OPT_CONNECT_TIMEOUT:
        return take_seconds(o, "--connect-timeout", &o->connect_ms);
    case OPT_LABEL:
        return take_label(o);
    case OPT_AUTH:
        return take_auth(o);
    case OPT_AUTH_FILE:
        return take_auth_file(o);
    case OPT_ACL:
        return take_acl(o);
    default:
        return refuse(o, option, argv);
    }
}

int pdk__cli_options_path(struct pdk__cli_options *o, const char *path)
{
    if (path == NULL)
        return pdk__cli_usage("%s: no lock path given; 'paddock %s --help' tells more", o->command, o->command);
    if (*path != '/')
        return pdk__cli_usage("%s: a lock path begins with '/', '%s' does not", o->command, path);
    if (o->hosts == NULL || *o->hosts == '\0')
        return pdk__cli_usage("%s: no ensemble given: use -z HOST:PORT or set PADDOCK_HOSTS", o->command);
    o->path = path;
    return 0;
}
