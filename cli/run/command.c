#include "cli/message.h"
#include "cli/run/lock.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) .at = offsetof(struct pdk__cli_lock, member)

const struct pdk__cli_option pdk__cli_command_options[] = {
    {"command", 'c', KIND_TEXT, AT(script), .value = "STR", .help = "run STR with the shell"},
    {"on-lost", 0, KIND_SIGNAL, AT(on_lost), .help = "when lost: term (default), kill, SIG, or ignore"},
    {"on-revoke", 0, KIND_SIGNAL, AT(on_revoke), .value = "ACTION"},
    {"kill-after", 0, KIND_SECONDS, AT(kill_after_ms)},
    {"metrics", 0, KIND_TEXT, AT(metrics), .value = "FILE"},
    {0}};

static void use_shell(struct pdk__cli_lock *l)
{
    char *shell = getenv("SHELL");
    l->shell[0] = shell != NULL && *shell != '\0' ? shell : "/bin/sh";
    l->shell[1] = "-c";
    l->shell[2] = l->script;
    l->argv = l->shell;
}

/* flock(1) takes -c after the path, too. */
static bool is_script(char **words)
{
    return words[0] != NULL && (strcmp(words[0], "-c") == 0 || strcmp(words[0], "--command") == 0);
}

int pdk__cli_command_take(struct pdk__cli_lock *l, char **words)
{
    const char *verb = l->common.command;
    if (l->script == NULL && is_script(words)) {
        if (words[1] == NULL || words[2] != NULL)
            return pdk__cli_usage("%s: -c takes exactly one argument", verb);
        l->script = words[1];
        words += 2;
    }
    if (*words != NULL && strcmp(*words, "--") == 0)
        words++;
    if (l->script != NULL && *words != NULL)
        return pdk__cli_usage("%s: give a command or -c, not both", verb);
    if (l->script == NULL && *words == NULL)
        return pdk__cli_usage("%s: no command given", verb);
    l->argv = words;
    if (l->script != NULL)
        use_shell(l);
    return 0;
}
