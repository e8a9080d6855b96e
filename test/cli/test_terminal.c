/* paddock lock on a terminal: the line while it waits, and its place among a shell's jobs. */
#include "test/cli/cli.h"

#include <errno.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cli holder;
static char path[128];
static char screen[65536]; /* all that came from the terminal */
static int terminal;
static pid_t shell;

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void keep(void)
{
    cli_start_fed(&holder, ARGS("lock", "--label", "night shift", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, cli_said(&holder, "in\n"));
}

static void let_go(void)
{
    cli_close_input(&holder);
    cli_wait(&holder);
}

/* Run COMMAND with a shell on a terminal; 'paddock' is the program under test. */
static void open_terminal(const char *command)
{
    char script[1024];
    struct winsize size = {.ws_row = 24, .ws_col = 60};
    snprintf(script, sizeof script, "set -m; PATH=$PADDOCK_BUILDDIR:$PATH; %s", command);
    screen[0] = '\0';
    fflush(NULL);
    shell = forkpty(&terminal, NULL, NULL, &size);
    CHECK(shell >= 0);
    if (shell == 0) {
        execl("/bin/bash", "bash", "-c", script, NULL);
        _exit(99);
    }
}

static bool shown(const char *text)
{
    size_t n = strlen(screen);
    struct timeval none = {0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(terminal, &set);
    if (select(terminal + 1, &set, NULL, NULL, &none) > 0) {
        ssize_t got = read(terminal, screen + n, sizeof screen - n - 1);
        screen[n + (size_t)(got > 0 ? got : 0)] = '\0';
    }
    return strstr(screen, text) != NULL;
}

/* On failure, show what there was instead. */
#define CHECK_SHOWN(text)                                                                                              \
    do {                                                                                                               \
        for (int64_t until_ = pdk__test_now_ms() + GENEROUS; !shown(text) && pdk__test_now_ms() < until_;)             \
            pdk__test_nap();                                                                                           \
        if (!shown(text))                                                                                              \
            pdk__test_fail(__FILE__, __LINE__, "not shown: '%s', but '%s'", (text), screen);                           \
    } while (0)

static void type(const char *text) { CHECK_EQ(write(terminal, text, strlen(text)), (ssize_t)strlen(text)); }

static int close_terminal(void)
{
    int status = 0;
    CHECK_WITHIN(GENEROUS, (shown("never shown"), waitpid(shell, &status, WNOHANG) == shell));
    close(terminal);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void live_line(void)
{
    char command[512];
    fresh("line");
    keep();
    snprintf(command, sizeof command, "paddock lock %s echo ran", path);
    open_terminal(command);
    CHECK_SHOWN("place 1 of 1, held by");
    CHECK_SHOWN("\x1b[K");
    let_go();
    CHECK_SHOWN("\r\x1b[Kran\r\n");
    CHECK_EQ(close_terminal(), 0);
    /* No wider than the terminal. */
    const char *line = strstr(screen, "paddock: waiting");
    CHECK((size_t)(strstr(line, "\x1b[K") - line) < 60);
}

static void interrupted_wait(void)
{
    char command[512];
    fresh("given-up");
    keep();
    snprintf(command, sizeof command, "paddock lock %s echo ran; echo status $?", path);
    open_terminal(command);
    CHECK_SHOWN("place 1 of 1, held by");
    type("\x03");
    CHECK_SHOWN("\r\x1b[Kstatus 130");
    close_terminal();
    CHECK_EQ(cli_children(path), 1);
    let_go();
}

static void connecting(void)
{
    open_terminal("paddock lock -z 127.0.0.1:1 --connect-timeout 600 /a true; echo status $?");
    CHECK_SHOWN("connecting to 127.0.0.1:1");
    type("\x03");
    CHECK_SHOWN("\r\x1b[Kstatus 130");
    close_terminal();
}

/* A second is time enough for the line to come, were it to come. */
static void no_line(void)
{
    char command[512];
    fresh("quiet");
    keep();
    snprintf(command, sizeof command, "paddock lock -q -w 1 %s true; paddock lock -w 1 %s true 2>&1 | cat; echo over",
             path, path);
    open_terminal(command);
    CHECK_SHOWN("over");
    CHECK_EQ(close_terminal(), 0);
    CHECK(strchr(screen, '\x1b') == NULL);
    let_go();
}

static void interrupt_key(void)
{
    char command[512];
    snprintf(command, sizeof command, "paddock lock %s sh -c 'echo in; exec sleep 600'; echo status $?", fresh("int"));
    open_terminal(command);
    CHECK_SHOWN("in\r\n");
    type("\x03");
    CHECK_SHOWN("status 130");
    close_terminal();
    CHECK_EQ(cli_children(path), 0);
}

static void reads(void)
{
    char command[512];
    snprintf(command, sizeof command, "paddock lock %s sh -c 'read -r x; echo got:$x'; echo status $?", fresh("read"));
    open_terminal(command);
    type("hello\n");
    CHECK_SHOWN("got:hello");
    CHECK_SHOWN("status 0");
    close_terminal();
}

static void stop_key(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "paddock lock %s sh -c 'echo in; read -r x; echo out'; echo stopped $?; paddock lock -n %s true; "
             "echo busy $?; fg; echo status $?",
             fresh("stop"), path);
    open_terminal(command);
    CHECK_SHOWN("in\r\n");
    type("\x1a");
    CHECK_WITHIN(GENEROUS, shown("stopped 148") || shown("stopped 147"));
    CHECK_SHOWN("busy 1");
    type("go\n");
    CHECK_SHOWN("out\r\n");
    CHECK_SHOWN("status 0");
    close_terminal();
    CHECK_EQ(cli_children(path), 0);
}

static void break_asks(void)
{
    char command[512];
    fresh("break");
    keep();
    snprintf(command, sizeof command, "paddock break --force %s; echo status $?", path);
    open_terminal(command);
    CHECK_SHOWN("type 'yes'");
    CHECK_SHOWN("night shift");
    type("y\n");
    CHECK_SHOWN("status 1");
    close_terminal();
    CHECK_EQ(cli_children(path), 1);
    open_terminal(command);
    CHECK_SHOWN("type 'yes'");
    type("yes\n");
    CHECK_SHOWN("status 0");
    close_terminal();
    CHECK_EQ(cli_wait(&holder), 76);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiting lock shows its place and the holder, and wipes the line", live_line},
        {"the interrupt key ends the wait, wipes the line and leaves no node", interrupted_wait},
        {"a search for a server is shown, too", connecting},
        {"-q, or standard error that is no terminal, shows no line", no_line},
        {"the interrupt key ends the command", interrupt_key},
        {"the command may read from the terminal", reads},
        {"a job that is stopped keeps its lock, and goes on in the foreground", stop_key},
        {"break --force asks, and takes nothing but yes", break_asks},
        {0},
    };
    return pdk__test_main(argc, argv,
                          &(struct pdk__test_suite){
                              .name = "cli/terminal", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
