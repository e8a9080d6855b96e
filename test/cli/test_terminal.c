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

static struct program holder;
static char path[128];
static char screen[65536]; /* all that came from the terminal */
static int terminal;
static pid_t shell;

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void keep(void)
{
    cli_start_fed(&holder, ARGS("lock", "--label", "night shift", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
}

static void let_go(void)
{
    program_close_input(&holder);
    program_wait(&holder);
}

/* Run COMMAND with a shell on a terminal; 'paddock' is the program under test. The shell begins with SETTING. */
static void open_terminal_with(const char *setting, const char *command)
{
    char script[1024];
    struct winsize size = {.ws_row = 24, .ws_col = 60};
    snprintf(script, sizeof script, "%s; PATH=$PADDOCK_BUILDDIR/uninstalled:$PATH; %s", setting, command);
    screen[0] = '\0';
    fflush(NULL);
    shell = forkpty(&terminal, NULL, NULL, &size);
    CHECK(shell >= 0);
    if (shell == 0) {
        execl("/bin/bash", "bash", "-c", script, NULL);
        _exit(99);
    }
}

static void open_terminal(const char *command) { open_terminal_with("set -m", command); }

/* As `ssh -t HOST COMMAND` does: the shell leads the session, and controls no jobs. */
static void open_terminal_alone(const char *command) { open_terminal_with("set +m", command); }

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

/* The interrupt key: the line is wiped, for the shell, or for what is said of servers that take more than a second. */
static void interrupt(void)
{
    int64_t typed_ms = pdk__test_now_ms();
    type("\x03");
    CHECK_SHOWN("status 130");
    bool slow = pdk__test_now_ms() - typed_ms >= 1000;
    CHECK(strstr(screen, "\r\x1b[Kstatus 130") != NULL || (slow && strstr(screen, "\r\x1b[Kpaddock: /") != NULL));
}

static void interrupted_wait(void)
{
    char command[512];
    fresh("given-up");
    keep();
    snprintf(command, sizeof command, "paddock lock %s echo ran; echo status $?", path);
    open_terminal(command);
    CHECK_SHOWN("place 1 of 1, held by");
    interrupt();
    close_terminal();
    CHECK_EQ(cli_children(path), 1);
    let_go();
}

static void connecting(void)
{
    open_terminal("paddock lock -z 127.0.0.1:1 --connect-timeout 600 /a true; echo status $?");
    CHECK_SHOWN("connecting to 127.0.0.1:1");
    interrupt();
    close_terminal();
}

/* Three seconds are time enough for the line to come, were it to come. */
static void no_line(void)
{
    char command[512];
    fresh("quiet");
    keep();
    snprintf(command, sizeof command, "paddock lock -q -w 3 %s true; paddock lock -w 3 %s true 2>&1 | cat; echo over",
             path, path);
    open_terminal(command);
    CHECK_SHOWN("over");
    CHECK_EQ(close_terminal(), 0);
    CHECK(strchr(screen, '\x1b') == NULL);
    let_go();
}

/* The command is no shell: one that is just starting another program can lose the signal. */
static void interrupt_key(void)
{
    char command[512];
    snprintf(command, sizeof command, "paddock lock -v %s sleep 600; echo status $?", fresh("int"));
    open_terminal(command);
    CHECK_SHOWN("running sleep");
    type("\x03");
    CHECK_SHOWN("status 130");
    close_terminal();
    CHECK_EQ(cli_children(path), 0);
}

/* A signal that paddock sends is no key: the candidate stands again, and the calling script goes on. */
static void loss_is_no_key(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "paddock elect --on-lost=INT %s sh -c 'echo in $PADDOCK_TOKEN; read -r x; exit 3'; echo status $?",
             fresh("lost"));
    open_terminal(command);
    CHECK_SHOWN("in ");
    screen[0] = '\0';
    cli_delete_holder(path);
    CHECK_SHOWN("in ");
    type("\n");
    CHECK_SHOWN("status 3");
    close_terminal();
    CHECK_EQ(cli_children(path), 0);
}

/* One term after the other, until the command has handled KEY. */
static void key_ends_candidacy(const char *key, const char *signal)
{
    char command[512];
    snprintf(command, sizeof command,
             "paddock elect --keep %s sh -c 'trap \"exit 3\" %s; echo in; while :; do sleep .1; done'; echo status $?",
             fresh("handled"), signal);
    open_terminal(command);
    CHECK_SHOWN("in\r\n");
    screen[0] = '\0';
    type(key);
    CHECK_WITHIN(GENEROUS, shown("status ") || shown("in\r\n"));
    CHECK(!shown("in\r\n"));
    CHECK_SHOWN("status 3");
    close_terminal();
    CHECK_EQ(cli_children(path), 0);
}

static void key_that_is_handled(void)
{
    key_ends_candidacy("\x03", "INT");
    key_ends_candidacy("\x1c", "QUIT");
}

/* The command sends its own group what the key would have sent. */
static void group_signal_is_no_key(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "paddock elect --keep %s sh -c 'trap \"exit 3\" INT; echo in; kill -INT 0; sleep 600'; echo status $?",
             fresh("own-group"));
    open_terminal(command);
    CHECK_SHOWN("in\r\n");
    screen[0] = '\0';
    CHECK_WITHIN(GENEROUS, shown("status ") || shown("in\r\n"));
    CHECK(!shown("status "));
    type("\x03");
    CHECK_SHOWN("status ");
    close_terminal();
}

/* As by nohup(1): the command goes on, and so does the candidacy. */
static void key_that_is_ignored(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "trap '' INT; paddock elect --keep %s sh -c 'echo in; read -r x; echo got:$x'; echo status $?",
             fresh("deaf"));
    open_terminal(command);
    CHECK_SHOWN("in\r\n");
    screen[0] = '\0';
    type("\x03");
    type("a\n");
    CHECK_SHOWN("got:a");
    CHECK_WITHIN(GENEROUS, shown("status ") || shown("in\r\n"));
    CHECK(!shown("status "));
    type("\x1c");
    CHECK_SHOWN("status ");
    close_terminal();
}

static void question_is_clean(void)
{
    char command[512];
    strcat(strcpy(path, cli_path("round")), "\u202e");
    keep();
    snprintf(command, sizeof command, "paddock break --force '%s'; echo status $?", path);
    open_terminal(command);
    CHECK_SHOWN("type 'yes'");
    type("no\n");
    CHECK_SHOWN("status ");
    close_terminal();
    CHECK(strstr(screen, "\u202e") == NULL);
    let_go();
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

/* A stop would be for good, so there is none. */
static void stop_key_alone(void)
{
    char command[512];
    snprintf(command, sizeof command, "paddock lock %s sh -c 'echo in; read -r x; echo got:$x'; echo status $?",
             fresh("alone"));
    open_terminal_alone(command);
    CHECK_SHOWN("in\r\n");
    type("\x1a");
    type("hello\n");
    CHECK_SHOWN("got:hello");
    CHECK_SHOWN("status 0");
    close_terminal();
}

/* It stops itself, as top(1) does when it gets that key. */
static void stops_itself_alone(void)
{
    char command[512];
    snprintf(
        command, sizeof command,
        "paddock lock %s bash -c 'trap \"kill -STOP \\$\\$\" TSTP; echo in; read -r x; echo got:$x'; echo status $?",
        fresh("itself"));
    open_terminal_alone(command);
    CHECK_SHOWN("in\r\n");
    type("\x1a");
    type("hello\n");
    CHECK_SHOWN("got:hello");
    CHECK_SHOWN("status 0");
    close_terminal();
}

static void waiter_stop_key_alone(void)
{
    char command[512];
    fresh("waiter-alone");
    keep();
    snprintf(command, sizeof command, "paddock lock %s echo ran; echo status $?", path);
    open_terminal_alone(command);
    CHECK_SHOWN("place 1 of 1");
    type("\x1a");
    type("\x03");
    CHECK_SHOWN("status 130");
    close_terminal();
    let_go();
}

/* The key stops a script and its command, and fg continues both. */
static void stop_key_in_script(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "sh -c 'paddock lock %s sh -c \"echo in; read -r x; echo out\"; echo after'; echo stopped $?; fg",
             fresh("script"));
    open_terminal(command);
    CHECK_SHOWN("in\r\n");
    type("\x1a");
    CHECK_WITHIN(GENEROUS, shown("stopped 148") || shown("stopped 147"));
    type("go\n");
    CHECK_SHOWN("out\r\n");
    CHECK_SHOWN("after");
    close_terminal();
}

static void interrupt_key_in_script(void)
{
    char command[512];
    snprintf(command, sizeof command, "dash -c 'paddock lock -v %s sleep 600; echo went on'", fresh("int-script"));
    if (access("/bin/dash", X_OK) != 0)
        SKIP("no dash, a shell that an interrupt ends whatever its command did");
    open_terminal(command);
    CHECK_SHOWN("running sleep");
    type("\x03");
    close_terminal();
    CHECK(strstr(screen, "went on") == NULL);
}

/* The key ends dash as well, whatever its command did. The signal that is sent to paddock alone is none. */
static void signal_in_script(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "dash -c 'paddock lock %s sh -c \"kill -INT \\$PPID; exec sleep 600\"; echo went on $?'",
             fresh("relayed"));
    if (access("/bin/dash", X_OK) != 0)
        SKIP("no dash, a shell that an interrupt ends whatever its command did");
    open_terminal(command);
    close_terminal();
    CHECK(strstr(screen, "went on 130") != NULL);
}

static void modes_restored(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "before=$(stty -g); paddock lock %s sh -c 'stty raw -echo; echo in; exec sleep 600'; echo status $?; "
             "test \"$(stty -g)\" = \"$before\" && echo same; echo over",
             fresh("modes"));
    open_terminal(command);
    CHECK_SHOWN("in\n");
    cli_delete_holder(path);
    CHECK_SHOWN("over");
    CHECK_SHOWN("status 76");
    CHECK_SHOWN("same");
    close_terminal();
}

/* A command that ended in good order meant its changes to the terminal. */
static void modes_kept(void)
{
    char command[512];
    snprintf(command, sizeof command, "paddock lock %s stty -echo; stty -a; echo over", fresh("modes-kept"));
    open_terminal(command);
    CHECK_SHOWN("over");
    CHECK_SHOWN(" -echo ");
    close_terminal();
}

/* Such a program is not stopped when it sets the terminal from the background: it fails. */
static void handles_ttou(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "paddock lock %s bash -c 'trap \"echo refused\" TTOU; read -r -s x; echo got:$x'; echo status $?",
             fresh("ttou"));
    open_terminal(command);
    type("hello\n");
    CHECK_SHOWN("status ");
    CHECK_SHOWN("got:hello");
    CHECK(!shown("refused"));
    close_terminal();
}

static void pager_keeps_terminal(void)
{
    char command[512];
    snprintf(
        command, sizeof command,
        "paddock lock %s sh -c 'echo in; exec sleep 600' | sh -c 'read -r x; read -r y </dev/tty; echo pager:$x:$y; "
        "kill -INT 0'",
        fresh("pager"));
    open_terminal(command);
    type("q\n");
    CHECK_SHOWN("pager:in:q");
    close_terminal();
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
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
    CHECK_EQ(program_wait(&holder), 76);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiting lock shows its place and the holder, and wipes the line", live_line},
        {"the interrupt key ends the wait, wipes the line and leaves no node", interrupted_wait},
        {"a search for a server is shown, too", connecting},
        {"-q, or standard error that is no terminal, shows no line", no_line},
        {"the interrupt key ends the command", interrupt_key},
        {"a signal for a loss is no key", loss_is_no_key},
        {"a key that the command handles ends --keep", key_that_is_handled},
        {"a signal from another process to the command's group is no key", group_signal_is_no_key},
        {"nor is a key that is ignored", key_that_is_ignored},
        {"a path that would turn the line round is not shown as it is", question_is_clean},
        {"the command may read from the terminal", reads},
        {"a job that is stopped keeps its lock, and goes on in the foreground", stop_key},
        {"where no shell controls jobs, the stop key stops nothing", stop_key_alone},
        {"a command that stops itself there is continued", stops_itself_alone},
        {"nor does it stop a wait there", waiter_stop_key_alone},
        {"the stop key stops a script with its command", stop_key_in_script},
        {"the interrupt key ends a script with its command", interrupt_key_in_script},
        {"a signal that is sent to paddock ends its command, and no script", signal_in_script},
        {"a command that was stopped leaves the terminal's modes as they were", modes_restored},
        {"a command that ends by itself may change the terminal's modes", modes_kept},
        {"a program that handles SIGTTOU finds itself in the foreground", handles_ttou},
        {"in a pipeline, the pager keeps the terminal", pager_keeps_terminal},
        {"break --force asks, and takes nothing but yes", break_asks},
        {0},
    };
    return pdk__test_main(argc, argv,
                          &(struct pdk__test_suite){
                              .name = "cli/terminal", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
