#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/process_title.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "Usage: paddock COMMAND [OPTION]... [ARGUMENT]...\n"
                           "Distributed locks on ZooKeeper, as flock(1) for a fleet.\n"
                           "\n"
                           "  lock [-n|-w SEC] PATH CMD...   run CMD while holding the lock PATH\n"
                           "  elect PATH CMD...              run CMD while leader of PATH, term by term\n"
                           "  hold [-n|-w SEC] PATH          hold it until standard input ends\n"
                           "  ls [--watch] PATH              who holds it, and who waits\n"
                           "  break PATH                     ask the holder to release it, or take it away\n"
                           "  barrier [set|remove] PATH      wait while PATH is set; set it, or remove it\n"
                           "  barrier -N COUNT PATH CMD...   run CMD together with COUNT members\n"
                           "  doctor PATH...                 what is wrong with them, and what to do\n"
                           "  graph [PATH...]                which waits for which, and deadlocks\n"
                           "  top [PATH...]                  a tree of locks, again and again\n"
                           "  server                         a throwaway ZooKeeper, for trying and testing\n"
                           "\n"
                           "  -h, --help      this text; 'paddock COMMAND --help' for one command\n"
                           "  -V, --version   the version\n"
                           "\n"
                           "The ensemble: -z HOST:PORT,...[/CHROOT], or PADDOCK_HOSTS. See paddock(1).\n";

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {{"lock", pdk__cli_lock_main},     {"elect", pdk__cli_elect_main}, {"hold", pdk__cli_hold_main},
                {"ls", pdk__cli_ls_main},         {"break", pdk__cli_break_main}, {"barrier", pdk__cli_barrier_main},
                {"doctor", pdk__cli_doctor_main}, {"graph", pdk__cli_graph_main}, {"top", pdk__cli_top_main},
                {"server", pdk__cli_server_main}};

static int answer(const char *asked)
{
    if (strcmp(asked, "version") == 0)
        return pdk__cli_version();
    fputs(help, stdout);
    return 0;
}

/* "help COMMAND" is "COMMAND --help". */
static int dispatch(int argc, char **argv)
{
    static char option[] = "--help";
    char *asked[] = {argv[1], option, NULL};
    if (strcmp(argv[0], "help") == 0 && argc > 1)
        return strcmp(argv[1], "help") == 0 ? answer("help") : dispatch(2, asked);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc, argv);
    return strcmp(argv[0], "help") == 0 ? answer("help")
                                        : pdk__cli_usage("no such command: '%s'; 'paddock --help' lists them", argv[0]);
}

/* Options of the ensemble may come before the command: move them to where the command reads them. A "--" that ends
 * them is left out, because there it would end the command's own options too. */
static int run(int argc, char **argv)
{
    const char *asked = NULL;
    bool leading = argc > 1 && argv[1][0] == '-';
    int end = leading ? pdk__cli_options_skip(pdk__cli_ensemble_options, argc, argv, &asked) : 1;
    if (end < 0)
        return STATUS_USAGE;
    if (asked != NULL)
        return answer(asked);
    int at = end < argc && strcmp(argv[end], "--") == 0 ? end + 1 : end;
    if (at >= argc)
        return pdk__cli_usage("no command given; 'paddock --help' lists them");
    int first = at - end + 1;
    char *verb = argv[at];
    memmove(argv + first + 1, argv + 1, (size_t)(end - 1) * sizeof *argv);
    argv[first] = verb;
    return dispatch(argc - first, argv + first);
}

/* If a socket took the number of a closed standard stream, writes to the stream would reach the socket. The descriptors
 * opened here are for reading alone, so that a write still fails. They close again at exec: the command finds the
 * stream as closed as we did. */
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    if (pdk__cli_process_title_begin(argv) != 0) {
        pdk__cli_message("%s", pdk_strerror(PDK_ENOMEM));
        return STATUS_INTERNAL;
    }
    setlocale(LC_CTYPE, "");
    int status = run(argc, argv);
    /* An earlier flush may have failed. A small status is an answer, too; a large one has been explained. */
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (written || status >= STATUS_USAGE)
        return status;
    pdk__cli_message("cannot write to standard output");
    return STATUS_INTERNAL;
}
