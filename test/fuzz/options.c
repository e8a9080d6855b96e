/* The words of a command line, one a line: whatever they are, the answer is a status, and the options are whole. */
#include "cli/options.h"
#include "cli/message.h"
#include "lib/zk/options.h"
#include "test/fuzz/fuzz.h"
#include <unistd.h>

const char pdk__fuzz_name[] = "options";

enum { WORDS_MAX = 24 };

/* A file named by the bytes would be read: without --auth-file. */
static struct pdk__cli_option ensemble[16];

static const struct pdk__cli_verb verb = {
    "hold",
    "",
    "",
    {ensemble, pdk__cli_nowait_options, pdk__cli_wait_options, pdk__cli_node_options, pdk__cli_label_options},
    .ends = true};

static void leave_out_files(void)
{
    struct pdk__cli_option *to = ensemble;
    for (const struct pdk__cli_option *row = pdk__cli_ensemble_options; row->name != NULL; row++)
        if (strcmp(row->name, "auth-file") != 0)
            *to++ = *row;
    *to = (struct pdk__cli_option){0};
}

/* As the sub-commands do it. */
static int parse(struct pdk__cli_options *o, int argc, char **argv)
{
    int status = pdk__cli_options_parse(o, &verb, argc, argv);
    return status == 0 && !o->answered ? pdk__cli_options_path(o, o->words[0]) : status;
}

static void check_taken(const struct pdk__cli_options *o, int status)
{
    MUST(status == 0 || status == STATUS_USAGE);
    if (status == 0 && !o->answered)
        MUST(o->path != NULL && *o->path == '/' && o->hosts != NULL && *o->hosts != '\0');
    MUST(o->wait_ms == PDK_FOREVER || (o->wait_ms >= 0 && o->wait_ms <= INT64_C(1000000000000)));
    MUST(o->connect_ms >= -1 && o->connect_ms <= INT64_C(1000000000000));
    MUST(o->busy_status >= 0 && o->busy_status <= 255 && o->lost_status >= 0 && o->lost_status <= 255);
    const struct pdk_client_options *c = o->client;
    MUST(c->session_timeout_ms >= 100 && c->session_timeout_ms <= 86400000);
    MUST(memchr(c->label, '\0', sizeof c->label) != NULL);
    MUST(c->n_auths <= PDK__AUTHS_MAX && c->n_acls <= PDK__ACLS_MAX);
    for (int i = 0; i < c->n_auths; i++)
        MUST(*c->auths[i].scheme != '\0' && *c->auths[i].cred != '\0');
    for (int i = 0; i < c->n_acls; i++)
        MUST(*c->acls[i].id.scheme != '\0' && c->acls[i].perms > 0 && c->acls[i].perms <= PDK_PERM_ALL);
}

static int split(char *text, char **argv)
{
    int argc = 0;
    argv[argc++] = (char *)"hold";
    for (char *word = strsep(&text, "\n"); word != NULL && argc < WORDS_MAX; word = strsep(&text, "\n"))
        argv[argc++] = word;
    argv[argc] = NULL;
    return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pdk__cli_options o;
    char *argv[WORDS_MAX + 1];
    char *text = text_of(data, size);
    int argc = split(text, argv);
    unsetenv("PADDOCK_HOSTS");
    unsetenv("PADDOCK_AUTH");
    leave_out_files();
    MUST(pdk__cli_options_begin(&o, "hold") == 0);
    check_taken(&o, parse(&o, argc, argv));
    pdk__cli_options_forget(&o);
    free(text);
    return 0;
}
