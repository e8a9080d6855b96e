#include "cli/lock.h"
#include "cli/number.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- options about it -------------------------------------------------------------------------------------------- */

static int take_action(const struct pdk__cli_options *o, const struct pdk__cli_option *row, const char *value,
                       int *signal)
{
    *signal = 0;
    if (strcasecmp(value, "ignore") == 0 || pdk__cli_number_signal(value, signal))
        return 0;
    return pdk__cli_usage("%s: --%s takes term, kill, ignore or the name of a signal, not '%s'", o->command, row->name,
                          value);
}

static int take_on_lost(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    return take_action(o, row, value, &((struct pdk__cli_lock *)o)->on_lost);
}

static int take_on_revoke(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    return take_action(o, row, value, &((struct pdk__cli_lock *)o)->on_revoke);
}

static int take_kill_after(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    struct pdk__cli_lock *l = (struct pdk__cli_lock *)o;
    l->grace_given = true;
    return pdk__cli_options_seconds(o, row, value, &l->grace_ms);
}

static int take_script(struct pdk__cli_options *o, const struct pdk__cli_option *row, char *value)
{
    (void)row;
    ((struct pdk__cli_lock *)o)->script = value;
    return 0;
}

const struct pdk__cli_option pdk__cli_command_options[] = {{"command", 'c', take_script, 0},
                                                           {"on-lost", 0, take_on_lost, 0},
                                                           {"on-revoke", 0, take_on_revoke, 0},
                                                           {"kill-after", 0, take_kill_after, 0},
                                                           {0}};

/* --- the words --------------------------------------------------------------------------------------------------- */

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
