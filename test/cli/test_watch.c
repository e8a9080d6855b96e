/* paddock ls --watch: the listing, and again whenever it changes; and what a terminal has after it and after top. */
#include "server/words.h"
#include "test/cli/cli.h"

#include <fcntl.h>
#include <jansson.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct program c, asker;
static char path[128];

static const char *fresh(const char *name)
{
    strcpy(path, cli_path(name));
    cli_make("", path + 1, "");
    return path;
}

static const char *name_of(int number)
{
    static char name[80];
    snprintf(name, sizeof name, "0123456789abcdef-%08x-lock-%010d", (unsigned)number + 1, number);
    return name;
}

static void stand_at(const char *where, int number, const char *host)
{
    char data[300];
    snprintf(data, sizeof data, "{\"host\":\"%s\",\"pid\":7,\"thread\":7,\"label\":\"\"}", host);
    cli_make_ephemeral(where, name_of(number), data);
}

static void stand(int number, const char *host) { stand_at(path, number, host); }

/* As by Ctrl-C. */
static void interrupt(void)
{
    CHECK_EQ(kill(c.pid, SIGINT), 0);
    CHECK_EQ(program_wait(&c), 128 + SIGINT);
}

/* wchs counts the watches on data alone. */
static int watches(void)
{
    static char text[65536];
    static const char key[] = "zk_watch_count";
    CHECK(pdk__server_4lw("127.0.0.1", pdk__server_port(cli_server()), "mntr", text, sizeof text) > 0);
    const char *total = strstr(text, key);
    CHECK(total != NULL);
    return atoi(total + strlen(key));
}

static int blank_lines(const char *text)
{
    int n = 0;
    while ((text = strstr(text, "\n\n")) != NULL) {
        n++;
        text++;
    }
    return n;
}

/* --- what is printed --------------------------------------------------------------------------------------------- */

static void each_change(void)
{
    fresh("blocks");
    stand(0, "db1");
    cli_start(&c, ARGS("ls", "--watch", path));
    CHECK(strstr(program_await(&c, path), ": holders 1, waiters 0\n") != NULL);
    CHECK(strstr(program_await(&c, "POS"), "STATE") != NULL);
    program_await(&c, "1    holds");
    CHECK_EQ(blank_lines(c.out), 0);
    stand(1, "db2");
    CHECK(strstr(program_await(&c, path), ": holders 1, waiters 1\n") != NULL);
    program_await(&c, "2    waits");
    program_await(&c, "db2 pid 7");
    cli_delete_holder(path);
    program_await(&c, ": holders 1, waiters 0\n");
    cli_delete_holder(path);
    program_await(&c, ": holders 0, waiters 0\n");
    interrupt();
    CHECK_EQ(blank_lines(c.out), 3); /* between four blocks */
    CHECK_STR(c.err, "");
}

static json_t *heard(void)
{
    json_t *top = json_loads(program_hear(&c), 0, NULL);
    CHECK(top != NULL);
    return top;
}

static json_int_t number(const json_t *top, const char *key) { return json_integer_value(json_object_get(top, key)); }

static void check_heard(const char *where, size_t n)
{
    json_t *top = heard();
    CHECK_STR(json_string_value(json_object_get(top, "path")), where);
    CHECK_EQ(json_array_size(json_object_get(top, "contenders")), n);
    json_decref(top);
}

/* Of several paths, the one that has changed. One that is named twice counts once, one that does not exist is
 * watched. */
static void for_programs(void)
{
    char other[128], missing[160];
    strcpy(other, fresh("other"));
    fresh("json");
    snprintf(missing, sizeof missing, "%s-missing", path);
    stand(0, "db1");
    cli_start(&c, ARGS("ls", "--watch", "--json", path, other, path, missing));
    check_heard(path, 1);
    check_heard(other, 0);
    check_heard(missing, 0);
    stand_at(other, 0, "db2");
    check_heard(other, 1);
    stand(1, "db3");
    check_heard(path, 2);
    cli_make("", missing + 1, "");
    stand_at(missing, 0, "db4");
    check_heard(missing, 1);
    CHECK(program_silent(&c));
    interrupt();
    CHECK_STR(c.err, "");
}

/* A request for revocation is written into a node, which fires no watch. */
static void what_no_watch_tells(void)
{
    fresh("asked");
    stand(0, "db1");
    cli_start(&c, ARGS("ls", "--watch", path));
    program_await(&c, "1    holds");
    CHECK_EQ(cli_run(&asker, ARGS("break", "-q", path)), 0); /* it keeps the data */
    program_await(&c, "1    asked");
    cli_ask_last(path); /* it does not */
    program_await(&c, "1    asked");
    interrupt();
    CHECK_EQ(blank_lines(c.out), 2);
}

/* --- a semaphore ------------------------------------------------------------------------------------------------- */

static char leases[160], locks[160];

static void fresh_semaphore(const char *name)
{
    fresh(name);
    snprintf(leases, sizeof leases, "%s/leases", path);
    snprintf(locks, sizeof locks, "%s/locks", path);
}

/* Of a semaphore with two. */
static void take_permit(int number, const char *host)
{
    char name[80], data[300];
    snprintf(name, sizeof name, "0123456789abcdef-%08x-lease-%010d", (unsigned)number + 1, number);
    snprintf(data, sizeof data, "{\"host\":\"%s\",\"pid\":7,\"thread\":7,\"label\":\"\",\"limit\":2}", host);
    cli_make_ephemeral(leases, name, data);
}

static void await_heading(const char *counts)
{
    char heading[256];
    snprintf(heading, sizeof heading, " %s: %s\n", path, counts);
    program_await(&c, heading);
}

static void permits_and_queue(void)
{
    fresh_semaphore("permits");
    take_permit(0, "db1");
    int before = watches();
    cli_start(&c, ARGS("ls", "--watch", path));
    await_heading("held 1 of 2, queue 0");
    program_await(&c, "1    holds  permit");
    program_await(&c, "leases/");
    CHECK_WITHIN(GENEROUS, watches() == before + 3);
    take_permit(1, "db2");
    await_heading("held 2 of 2, queue 0");
    stand_at(locks, 0, "db3");
    await_heading("held 2 of 2, queue 1");
    CHECK(strstr(c.out, "junk") == NULL);
    cli_make(locks, "config", "");
    await_heading("held 2 of 2, queue 1"); /* it waits for nothing */
    program_await(&c, "junk");
    cli_delete(locks, "config");
    await_heading("held 2 of 2, queue 1");
    program_await(&c, "1    next ");
    program_await(&c, "locks/");
    cli_delete_holder(leases);
    await_heading("held 1 of 2, queue 1");
    cli_delete_holder(locks);
    await_heading("held 1 of 2, queue 0");
    interrupt();
    CHECK_WITHIN(GENEROUS, watches() == before);
    CHECK_STR(c.err, "");
}

/* Its children are paths of their own, and no contenders. */
static void a_directory(void)
{
    fresh("directory");
    cli_make(path, "orders", "");
    cli_make(path, "stock", "");
    cli_start(&c, ARGS("ls", "--watch", path));
    await_heading("no lock, 2 below: see 'paddock top'");
    cli_delete(path, "stock");
    await_heading("no lock, 1 below: see 'paddock top'");
    cli_delete(path, "orders");
    await_heading("holders 0, waiters 0");
    interrupt();
    CHECK(strstr(c.out, "junk") == NULL && strstr(c.out, "orders") == NULL);
    CHECK_STR(c.err, "");
}

/* The nodes below it may be many, so it has no paths. */
static void a_directory_for_programs(void)
{
    fresh("directory-json");
    cli_make(path, "orders", "");
    cli_start(&c, ARGS("ls", "--watch", "--json", path));
    json_t *top = heard();
    const json_t *contenders = json_object_get(top, "contenders");
    CHECK_STR(json_string_value(json_object_get(top, "kind")), "directory");
    CHECK(json_object_get(top, "paths") == NULL);
    CHECK_EQ(json_array_size(contenders), 1);
    CHECK_STR(json_string_value(json_object_get(json_array_get(contenders, 0), "state")), "path");
    json_decref(top);
    interrupt();
}

static void check_semaphore(json_int_t limit, json_int_t held, size_t n_queue)
{
    json_t *top = heard();
    CHECK_STR(json_string_value(json_object_get(top, "path")), path);
    CHECK_STR(json_string_value(json_object_get(top, "kind")), "semaphore");
    CHECK_EQ(number(top, "limit"), limit);
    CHECK_EQ(number(top, "held"), held);
    CHECK_EQ(json_array_size(json_object_get(top, "contenders")), (size_t)held);
    CHECK_EQ(json_array_size(json_object_get(top, "queue")), n_queue);
    json_decref(top);
}

static void check_kind(const char *kind)
{
    json_t *top = heard();
    CHECK_STR(json_string_value(json_object_get(top, "kind")), kind);
    CHECK(json_object_get(top, "queue") == NULL);
    json_decref(top);
}

static void a_semaphore_for_a_time(void)
{
    fresh_semaphore("becomes");
    cli_start(&c, ARGS("ls", "--watch", "--json", path));
    check_kind("empty");
    cli_make(path, "leases", "");
    check_semaphore(0, 0, 0);
    take_permit(0, "db1");
    check_semaphore(2, 1, 0);
    cli_make(path, "locks", ""); /* nobody is there yet, so it is no news */
    stand_at(locks, 0, "db2");
    check_semaphore(2, 1, 1);
    cli_delete_holder(locks);
    check_semaphore(2, 1, 0);
    cli_delete_holder(leases);
    check_semaphore(0, 0, 0);
    cli_delete(path, "leases");
    check_kind("directory");
    cli_delete(path, "locks");
    check_kind("empty");
    stand(0, "db3");
    check_kind("lock");
    cli_delete_holder(path);
    check_kind("empty");
    cli_make(path, "leases", "");
    check_semaphore(0, 0, 0);
    take_permit(0, "db4");
    check_semaphore(2, 1, 0);
    interrupt();
    CHECK_STR(c.err, "");
}

/* --- what it costs ----------------------------------------------------------------------------------------------- */

/* However many contenders there are, and however often they change. */
static void one_watch_a_path(void)
{
    fresh("cost");
    for (int i = 0; i < 5; i++)
        stand(i, "db1");
    int before = watches();
    cli_start(&c, ARGS("ls", "--watch", path));
    program_await(&c, "waiters 4");
    CHECK_WITHIN(GENEROUS, watches() == before + 1);
    stand(5, "db2");
    program_await(&c, "waiters 5");
    cli_delete_holder(path);
    program_await(&c, "waiters 4");
    CHECK_WITHIN(GENEROUS, watches() == before + 1);
    interrupt();
    CHECK_WITHIN(GENEROUS, watches() == before);
}

/* --- what goes wrong --------------------------------------------------------------------------------------------- */

static void an_outage(void)
{
    fresh("outage");
    cli_start(&c, ARGS("ls", "--watch", path));
    program_await(&c, "waiters 0");
    cli_server_stop();
    CHECK_WITHIN(GENEROUS, program_complained(&c, "the connection is lost"));
    cli_server_start();
    CHECK_WITHIN(GENEROUS, program_complained(&c, "connected again"));
    stand(0, "db1");
    program_await(&c, "holders 1");
    cli_server_stop();
    CHECK_EQ(kill(c.pid, SIGTERM), 0); /* also while there is no server */
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    cli_server_start();
}

static void full_output(void)
{
    fresh("full");
    setenv("PADDOCK_PATH", path, 1);
    static const char *const options[] = {"--watch", "--watch --json"};
    for (int i = 0; i < 2; i++) {
        char script[200];
        snprintf(script, sizeof script,
                 "exec \"$PADDOCK_BUILDDIR/uninstalled/paddock\" ls %s \"$PADDOCK_PATH\" >/dev/full", options[i]);
        CHECK_EQ(program_run(&c, ARGS("sh", "-c", script), PROGRAM_OUTPUT | PROGRAM_ERRORS), 70);
        CHECK_ONE_LINE(&c);
        CHECK(strstr(c.err, "cannot write to standard output") != NULL);
    }
}

/* --- an output that is not read ---------------------------------------------------------------------------------- */

/* The writing end of a pipe that is full. */
static int fill(int ends[2])
{
    static const char zeros[4096];
    CHECK_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    for (size_t size = sizeof zeros; size > 0;)
        if (write(ends[1], zeros, size) < 0)
            size /= 2;
    return ends[1];
}

/* Does the process wait for SIGTERM, or catch it? */
static bool minds_term(pid_t pid)
{
    char file[64], line[256];
    unsigned long long set, all = 0;
    snprintf(file, sizeof file, "/proc/%d/status", (int)pid);
    FILE *in = fopen(file, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (sscanf(line, "SigBlk: %llx", &set) == 1 || sscanf(line, "SigCgt: %llx", &set) == 1)
            all |= set;
    if (in != NULL)
        fclose(in);
    return (all & 1ULL << (SIGTERM - 1)) != 0;
}

static void end_unread(const char *words, int status)
{
    int ends[2], full = fill(ends);
    char script[300];
    snprintf(script, sizeof script, "exec %s %s %s >/proc/%d/fd/%d", program_built("uninstalled/paddock"), words, path,
             (int)getpid(), full);
    program_start(&c, ARGS("sh", "-c", script), PROGRAM_ERRORS);
    CHECK_WITHIN(GENEROUS, minds_term(c.pid));
    usleep(300000); /* it has begun to write by then */
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), status);
    CHECK_STR(c.err, "");
    close(ends[0]);
    close(full);
}

static void unread(void)
{
    fresh("unread");
    stand(0, "db1");
    end_unread("ls --watch", 128 + SIGTERM);
    end_unread("ls --watch --json", 128 + SIGTERM);
    end_unread("top", 0);
    end_unread("elect --listen", 128 + SIGTERM);
    end_unread("elect --listen --json", 128 + SIGTERM);
}

/* The command prints, its reader goes, and nothing changes any more. IGNORED: it has no SIGPIPE. */
static void end_deserted(const char *words, bool ignored)
{
    int ends[2];
    char script[300], first;
    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    snprintf(script, sizeof script, "%s exec %s %s %s >/proc/%d/fd/%d", ignored ? "trap '' PIPE;" : "",
             program_built("uninstalled/paddock"), words, path, (int)getpid(), ends[1]);
    program_start(&c, ARGS("sh", "-c", script), PROGRAM_ERRORS);
    CHECK_EQ(read(ends[0], &first, 1), 1);
    close(ends[1]);
    usleep(300000); /* it waits by then */
    close(ends[0]);
    CHECK_WITHIN(20000, program_ended(&c));
    CHECK_EQ(c.status, ignored ? 70 : -SIGPIPE);
    CHECK_STR(c.err, ignored ? "paddock: cannot write to standard output\n" : "");
}

static void deserted(void)
{
    static const char *const words[] = {"ls --watch",           "ls --watch --json",
                                        "top --interval 86400", "top --json --interval 86400",
                                        "elect --listen",       "elect --listen --json"};
    fresh("deserted");
    stand(0, "db1");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        end_deserted(words[i], false);
        end_deserted(words[i], true);
    }
}

static void strange_text(void)
{
    fresh("strange");
    stand(0, "\\u001b[2J\\u009b\\u202ex");
    cli_make_ephemeral(path, "a\xe2\x80\xae", "\x1b[31mred");
    cli_start(&c, ARGS("ls", "--watch", path));
    program_await(&c, "?[2J");
    interrupt();
    CHECK(strchr(c.out, '\033') == NULL && strstr(c.out, "\xc2\x9b") == NULL && strstr(c.out, "\xe2\x80\xae") == NULL);
    cli_start(&c, ARGS("ls", "--watch", "--json", path));
    program_await(&c, "\\u001b[2J");
    interrupt();
    for (const char *at = c.out; *at != '\0'; at++)
        CHECK((*at >= ' ' && *at < 0x7f) || *at == '\n');
}

static void usage(void)
{
    CHECK_EQ(cli_run(&c, ARGS("ls", "/a", "/b")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--watch", "/a", "relative")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--watch")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--watch", "-z", "127.0.0.1:1", "--connect-timeout", ".2", "/a")), 69);
    CHECK_ONE_LINE(&c);
    strcpy(path, cli_path("private"));
    cli_make_private(path);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--watch", "/", path)), 64);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--watch", path)), 77);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, path) != NULL);
}

/* --- on a terminal ----------------------------------------------------------------------------------------------- */

static char screen[1 << 20]; /* all that came from the terminal */
static size_t n_screen, n_seen;
static int terminal;
static pid_t shell;

/* A shell that tells the modes of its terminal before and after COMMAND, and COMMAND's status. */
static void open_terminal(const char *command)
{
    char script[600];
    struct winsize size = {.ws_row = 12, .ws_col = 70};
    snprintf(script, sizeof script,
             "set -m; PATH=$PADDOCK_BUILDDIR:$PATH; echo before $(stty -g); %s; echo status $?; echo after $(stty -g)",
             command);
    n_screen = n_seen = 0;
    screen[0] = '\0';
    fflush(NULL);
    shell = forkpty(&terminal, NULL, NULL, &size);
    CHECK(shell >= 0);
    if (shell == 0) {
        execl("/bin/bash", "bash", "-c", script, NULL);
        _exit(99);
    }
}

/* Has TEXT come after what was seen before? */
static bool shown(const char *text)
{
    struct timeval none = {0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(terminal, &set);
    if (select(terminal + 1, &set, NULL, NULL, &none) > 0) {
        ssize_t got = read(terminal, screen + n_screen, sizeof screen - n_screen - 1);
        screen[n_screen += (size_t)(got > 0 ? got : 0)] = '\0';
    }
    const char *at = strstr(screen + n_seen, text);
    if (at != NULL)
        n_seen = (size_t)(at - screen) + strlen(text);
    return at != NULL;
}

static void await(const char *text) { CHECK_WITHIN(GENEROUS, shown(text)); }

static void type(const char *text) { CHECK_EQ(write(terminal, text, strlen(text)), (ssize_t)strlen(text)); }

static void resize(unsigned short rows, unsigned short columns)
{
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    n_seen = n_screen;
    CHECK_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0);
}

/* The longest of the lines in the frame that begins at the last mark. */
static size_t widest(const char *frame)
{
    size_t most = 0;
    const char *end = strstr(frame, "\033[J");
    CHECK(end != NULL);
    for (const char *line = frame; line < end;) {
        size_t n = strcspn(line, "\033");
        most = n > most ? n : most;
        line = strchr(line, '\n');
        if (line == NULL)
            break;
        line++;
    }
    return most;
}

static int lines(const char *frame)
{
    int n = 0;
    const char *end = strstr(frame, "\033[J");
    for (const char *at = frame; at < end; at++)
        n += *at == '\n';
    return n;
}

static bool next_frame_fits(int rows, size_t columns)
{
    await("\033[H");
    const char *frame = screen + n_seen;
    await("\033[J");
    return lines(frame) > 0 && lines(frame) < rows && widest(frame) > 0 && widest(frame) < columns;
}

/* A frame of at most ROWS and COLUMNS is drawn after the last resize. One that was on its way then may come before. */
static void check_frame(int rows, size_t columns) { CHECK_WITHIN(GENEROUS, next_frame_fits(rows, columns)); }

static void close_terminal(const char *status)
{
    char *before = strstr(screen, "before "), modes[256];
    int ended;
    await("\033[?25h\033[?1049l"); /* the cursor, and the shell's own screen */
    await(status);
    await("after ");
    const char *after = screen + n_seen;
    await("\n");
    CHECK(before != NULL);
    snprintf(modes, sizeof modes, "%.*s", (int)strcspn(before + 7, "\r\n"), before + 7);
    CHECK(strlen(modes) > 10 && strncmp(after, modes, strlen(modes)) == 0);
    CHECK_WITHIN(GENEROUS, (shown("never"), waitpid(shell, &ended, WNOHANG) == shell));
    close(terminal);
}

static void on_a_terminal(void)
{
    char command[300];
    fresh("screen");
    for (int i = 0; i < 20; i++)
        stand(i, i == 0 ? "db1\\u001b[2J" : "db1");
    snprintf(command, sizeof command, "paddock ls --watch %s", path);
    open_terminal(command);
    await("\033[?1049h");
    await("waiters 19");
    await("db1?[2J");
    cli_delete_child(path, name_of(19));
    await("waiters 18");
    resize(8, 40);
    check_frame(8, 40);
    type("x");
    resize(30, 100);
    check_frame(30, 100);
    type("q");
    close_terminal("status 0");
    CHECK(strstr(screen, "\033[2J") == NULL);
}

static void a_semaphore_on_a_terminal(void)
{
    char command[300];
    fresh_semaphore("permits-screen");
    take_permit(0, "db1");
    snprintf(command, sizeof command, "paddock ls --watch %s", path);
    open_terminal(command);
    await("held 1 of 2, queue 0");
    stand_at(locks, 0, "db2");
    await("held 1 of 2, queue 1");
    await("1    next");
    type("q");
    close_terminal("status 0");
}

static void interrupted_on_a_terminal(void)
{
    char command[300];
    fresh("ctrl-c");
    snprintf(command, sizeof command, "paddock ls --watch %s", path);
    open_terminal(command);
    await("waiters 0");
    type("\003");
    close_terminal("status 130");
}

/* The frame of the new size is drawn long before the next look. */
static void top_follows_the_size(void)
{
    char command[300];
    fresh("top");
    for (int i = 0; i < 20; i++) {
        char lock[160];
        snprintf(lock, sizeof lock, "%s/a-lock-of-some-length-%d", path, i);
        stand_at(lock, 0, "db1");
    }
    snprintf(command, sizeof command, "paddock top --interval 86400 %s", path);
    open_terminal(command);
    await("lock paths: 20;");
    resize(8, 40);
    check_frame(8, 40);
    resize(20, 90);
    check_frame(20, 90);
    type("q");
    close_terminal("status 0");
    open_terminal(command);
    await("lock paths: 20;");
    type("\003");
    close_terminal("status 0");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a block for each change, with a line between them", each_change},
        {"a line for each change, of the path that has changed", for_programs},
        {"what no watch tells is found all the same", what_no_watch_tells},
        {"a semaphore is shown with its permits and its queue, and again when either changes", permits_and_queue},
        {"of a path that is no lock, how many are below", a_directory},
        {"for programs, the nodes below it", a_directory_for_programs},
        {"a path may become a semaphore, and stop being one", a_semaphore_for_a_time},
        {"the servers have one watch for a path", one_watch_a_path},
        {"it goes on after an outage", an_outage},
        {"an output that is full is an error", full_output},
        {"a signal ends what writes and is not read", unread},
        {"it ends once its reader has gone, though nothing changes", deserted},
        {"what others have written is masked", strange_text},
        {"wrong words, no ensemble, no permission", usage},
        {"on a terminal it draws, in its size, until q is pressed", on_a_terminal},
        {"on a terminal a semaphore's permits and queue are drawn", a_semaphore_on_a_terminal},
        {"Ctrl-C gives the terminal back as it was", interrupted_on_a_terminal},
        {"top draws in the terminal's size, and gives it back as it was", top_follows_the_size},
        {0},
    };
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "watch", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
