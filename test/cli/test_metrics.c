/* paddock lock --metrics: the statistics of a command in a file, for Prometheus. */
#include "test/cli/cli.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct program c, holder;
static char directory[] = "/tmp/paddock-metrics-XXXXXX", file[64], text[65536];

static void begin(void)
{
    snprintf(file, sizeof file, "%s/lock.prom", directory);
    unlink(file);
}

/* The value of the sample NAME with the LABELS; -1: there is none. */
static double value(const char *name, const char *labels)
{
    char head[400];
    FILE *in = fopen(file, "re");
    size_t n = in != NULL ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = '\0';
    if (in != NULL)
        fclose(in);
    snprintf(head, sizeof head, "\n%s{%s} ", name, labels);
    const char *at = strstr(text, head);
    return at != NULL ? strtod(at + strlen(head), NULL) : -1;
}

static const char *labelled(const char *command, const char *path, const char *more)
{
    static char labels[300];
    snprintf(labels, sizeof labels, "command=\"%s\",path=\"%s\"%s", command, path, more);
    return labels;
}

static int files(void)
{
    int n = 0;
    DIR *d = opendir(directory);
    CHECK(d != NULL);
    for (const struct dirent *entry; (entry = readdir(d)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static void whole_life(void)
{
    char script[100], path[100];
    struct stat st;
    time_t before = time(NULL);
    begin();
    strcpy(path, cli_path("life"));
    snprintf(script, sizeof script, "cat %s", file);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--metrics", file, path, "sh", "-c", script)), 0);
    CHECK_QUIET(&c);
    CHECK(strstr(c.out, "# TYPE paddock_acquires_total counter\n") != NULL);
    CHECK(strstr(c.out, "\"} 1\n# TYPE paddock_losses_total") != NULL); /* held, as its command sees it */
    CHECK_EQ(value("paddock_held", labelled("lock", path, "")), 0);
    CHECK_EQ(value("paddock_acquires_total", labelled("lock", path, "")), 1);
    CHECK_EQ(value("paddock_grants_total", labelled("lock", path, ",source=\"servers\"")), 1);
    CHECK_EQ(value("paddock_hold_seconds_count", labelled("lock", path, "")), 1);
    CHECK_EQ(value("paddock_connected", labelled("lock", path, "")), 0);
    CHECK_EQ(value("paddock_job_exit_status", labelled("lock", path, "")), 0);
    CHECK_EQ(value("paddock_job_skipped", labelled("lock", path, "")), 0);
    CHECK(value("paddock_job_seconds", labelled("lock", path, "")) >= 0);
    CHECK(value("paddock_job_end_time_seconds", labelled("lock", path, "")) >= (double)before);
    CHECK(strstr(c.out, "paddock_job") == NULL); /* it has not ended, as it sees it */
    CHECK_EQ(files(), 1);
    CHECK_EQ(stat(file, &st), 0);
    CHECK((st.st_mode & S_IRUSR) != 0 && st.st_nlink == 1);
}

/* Each writing makes a new file. */
static bool is_other_than(const struct stat *before)
{
    struct stat st;
    return stat(file, &st) == 0 && (st.st_mtim.tv_sec != before->st_mtim.tv_sec || st.st_ino != before->st_ino);
}

/* A session that no busy server ends, nor lets the hold be doubted: that would be news. */
static void while_it_waits_and_holds(void)
{
    char path[100];
    struct stat st;
    begin();
    strcpy(path, cli_path("waits"));
    cli_start_fed(&holder, ARGS("hold", path));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    cli_start_fed(&c, ARGS("lock", "--session-timeout", "30", "--metrics", file, path, "cat"));
    CHECK_WITHIN(GENEROUS, value("paddock_waiting", labelled("lock", path, "")) == 1);
    CHECK_EQ(value("paddock_held", labelled("lock", path, "")), 0);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 0);
    CHECK_WITHIN(GENEROUS, value("paddock_held", labelled("lock", path, "")) == 1);
    CHECK_EQ(value("paddock_waiting", labelled("lock", path, "")), 0);
    CHECK_EQ(stat(file, &st), 0);
    CHECK_WITHIN(GENEROUS, is_other_than(&st)); /* nothing happens but time */
    CHECK_EQ(value("paddock_held", labelled("lock", path, "")), 1);
    cli_delete_holder(path);
    CHECK_WITHIN(GENEROUS, value("paddock_losses_total", labelled("lock", path, ",reason=\"node\"")) == 1);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 76);
}

static void busy(void)
{
    char path[100];
    begin();
    strcpy(path, cli_path("busy"));
    cli_start_fed(&holder, ARGS("hold", path));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--metrics", file, path, "true")), 1);
    CHECK_EQ(value("paddock_failures_total", labelled("lock", path, ",error=\"PDK_EBUSY\"")) +
                 value("paddock_failures_total", labelled("lock", path, ",error=\"PDK_ETIMEDOUT\"")),
             1);
    CHECK_EQ(value("paddock_grants_total", labelled("lock", path, ",source=\"servers\"")), 0);
    CHECK_EQ(value("paddock_job_skipped", labelled("lock", path, "")), 1);
    CHECK_EQ(value("paddock_job_exit_status", labelled("lock", path, "")), 1);
    CHECK_EQ(value("paddock_job_seconds", labelled("lock", path, "")), 0);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 0);
}

static void elected(void)
{
    char path[100];
    begin();
    strcpy(path, cli_path("elected"));
    CHECK_EQ(cli_run(&c, ARGS("elect", "--metrics", file, path, "sh", "-c", "exit 3")), 3);
    CHECK_EQ(value("paddock_job_exit_status", labelled("elect", path, "")), 3);
    CHECK_EQ(value("paddock_grants_total", labelled("elect", path, ",source=\"servers\"")), 1);
}

/* Servers and test have one clock. */
static void last_success(void)
{
    const char *name = "paddock_job_last_success_time_seconds";
    char path[100];
    begin();
    strcpy(path, cli_path("job"));
    time_t before = time(NULL);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--every", "1h", "--metrics", file, path, "sh", "-c", "exit 3")), 3);
    CHECK_EQ(value(name, labelled("lock", path, "")), -1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--every", "1h", "--metrics", file, path, "true")), 0);
    double at = value(name, labelled("lock", path, ""));
    CHECK(at >= (double)before && at <= (double)time(NULL) + 1);
    unlink(file);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--every", "1h", "--metrics", file, path, "echo", "ran")), 0);
    CHECK_STR(c.out, "");
    CHECK_EQ(value("paddock_job_skipped", labelled("lock", path, "")), 1);
    CHECK_EQ(value(name, labelled("lock", path, "")), at);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", "b", "--metrics", file, path, "sh", "-c", "exit 3")), 3);
    CHECK_EQ(value(name, labelled("lock", path, "")), at); /* of the success before */
    CHECK_EQ(cli_run(&c, ARGS("lock", "--metrics", file, path, "true")), 0);
    CHECK_EQ(value(name, labelled("lock", path, "")), -1);
}

static void no_place(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", "--metrics", "/nowhere/at/all.prom", cli_path("place"), "echo", "ran")), 64);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "--metrics '/nowhere/at/all.prom': ") != NULL);
    CHECK_STR(c.out, "");
}

/* All that is not a file stays as it is. */
static void no_file(void)
{
    char link[80], pipe[80], *kinds[] = {link, pipe, directory, ""};
    struct stat st;
    snprintf(link, sizeof link, "%s/link.prom", directory);
    snprintf(pipe, sizeof pipe, "%s/pipe.prom", directory);
    CHECK_EQ(symlink("/dev/null", link), 0);
    CHECK_EQ(mkfifo(pipe, 0600), 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CHECK_EQ(cli_run(&c, ARGS("lock", "--metrics", kinds[i], cli_path("kind"), "echo", "ran")), 64);
        CHECK_ONE_LINE(&c);
        CHECK_STR(c.out, "");
    }
    CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
    unlink(link);
    unlink(pipe);
    CHECK_EQ(files(), 1);
}

/* Statistics that cannot be written end no lock. */
static void no_room(void)
{
    char script[400];
    begin();
    snprintf(script, sizeof script, "ulimit -f 0; exec '%s' lock --metrics %s %s sh -c 'sleep .2; exit 3'",
             program_built("uninstalled/paddock"), file, cli_path("room"));
    CHECK_EQ(program_run(&c, ARGS("sh", "-c", script), 0), 3);
    CHECK_EQ(files(), 0);
}

static void place_gone(void)
{
    char place[80], name[100];
    snprintf(place, sizeof place, "%s/place", directory);
    snprintf(name, sizeof name, "%s/lock.prom", place);
    CHECK_EQ(mkdir(place, 0700), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--metrics", name, cli_path("gone"), "rm", "-r", place)), 0);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "lock.prom: No such file or directory") != NULL);
}

/* Standard error is a pipe that is full, with its other end open. */
static void place_gone_untold(void)
{
    char place[80], script[600];
    snprintf(place, sizeof place, "%s/untold", directory);
    CHECK_EQ(mkdir(place, 0700), 0);
    snprintf(script, sizeof script,
             "mkfifo %s.pipe; exec 9<>%s.pipe; rm %s.pipe; dd if=/dev/zero of=/dev/fd/9 oflag=nonblock 2>&-; "
             "exec '%s' lock --metrics %s/lock.prom %s rm -r %s 2>&9",
             place, place, place, program_built("uninstalled/paddock"), place, cli_path("untold"), place);
    CHECK_EQ(program_run(&c, ARGS("sh", "-c", script), 0), 0);
    CHECK_EQ(files(), 0);
}

static void strange_path(void)
{
    char path[100], shown[120];
    const char *plain = cli_path("strange");
    begin();
    snprintf(path, sizeof path, "%s-\"q\\", plain);
    snprintf(shown, sizeof shown, "%s-\\\"q\\\\", plain);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--metrics", file, path, "true")), 0);
    CHECK_EQ(value("paddock_acquires_total", labelled("lock", shown, "")), 1);
}

/* PROGRAM accepts the file on its standard input. */
static void accepted_by(const char *program)
{
    char command[300];
    begin();
    CHECK_EQ(cli_run(&c, ARGS("lock", "--metrics", file, cli_path("check"), "true")), 0);
    snprintf(command, sizeof command, "%s <%s 2>&1", program, file);
    int status = program_run(&c, ARGS("sh", "-c", command), PROGRAM_OUTPUT);
    if (status == 127)
        SKIP("it is missing");
    if (status != 0)
        pdk__test_fail(__FILE__, __LINE__, "refused: %s", c.out);
}

static void promtool(void) { accepted_by("promtool check metrics"); }

static void setup(void)
{
    cli_setup();
    CHECK(mkdtemp(directory) != NULL);
}

static void teardown(void)
{
    begin();
    rmdir(directory);
    cli_teardown();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a command's whole life is in the file", whole_life},
        {"the file is written while it waits, holds and loses", while_it_waits_and_holds},
        {"a lock that is busy is in the file", busy},
        {"a leader's term is in the file", elected},
        {"the last success of a job is in the file", last_success},
        {"a file that cannot be written is refused", no_place},
        {"all that is not a file is refused, and stays", no_file},
        {"a limit on the size of files ends no lock", no_room},
        {"a file that can be written no more is told once", place_gone},
        {"a standard error that takes nothing more ends no lock", place_gone_untold},
        {"a path is escaped", strange_path},
        {"promtool accepts the file", promtool},
        {0},
    };
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "metrics", .tests = tests, .setup = setup, .teardown = teardown});
}
