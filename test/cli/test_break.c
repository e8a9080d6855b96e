/* paddock break: asking the holder, and taking the lock away. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct program c, holder;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void keep(const char *name)
{
    cli_start_fed(&holder, ARGS("lock", "--on-revoke=ignore", "--label", "night shift", fresh(name), "sh", "-c",
                                "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
}

static void let_go(void)
{
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 1);
}

static void asks(void)
{
    keep("asks");
    CHECK_EQ(cli_run(&c, ARGS("break", path)), 0);
    CHECK(strstr(c.out, "(night shift)") != NULL);
    CHECK(strstr(c.err, "asked") != NULL);
    CHECK_ONE_LINE(&c);
    CHECK(cli_asked(path));
    let_go();
}

static void nobody(void)
{
    CHECK_EQ(cli_run(&c, ARGS("break", fresh("nobody"))), 66);
    CHECK_ONE_LINE(&c);
    CHECK_STR(c.out, "");
    cli_make(path, "notes", "1");
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", path)), 66);
    CHECK_EQ(cli_children(path), 1);
}

static void forced(void)
{
    keep("forced");
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", path)), 0);
    CHECK_EQ(program_wait(&holder), 76);
    CHECK_EQ(cli_children(path), 0);
}

static void not_asked_twice(void)
{
    keep("no-tty");
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", path)), 64);
    CHECK_ONE_LINE(&c);
    CHECK_STR(c.out, "");
    CHECK(!cli_asked(path));
    let_go();
}

static void still_held(void)
{
    keep("still");
    CHECK_EQ(cli_run(&c, ARGS("break", "--wait", ".3", path)), 1);
    CHECK(strstr(c.err, "still held") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("break", "-q", "-E", "9", "--wait", ".3", path)), 9);
    CHECK_STR(c.err, "");
    let_go();
}

static void given_back(void)
{
    keep("given");
    cli_start(&c, ARGS("break", "--wait", "60", path));
    CHECK_WITHIN(GENEROUS, cli_asked(path));
    let_go();
    CHECK_EQ(program_wait(&c), 0);
    CHECK(strstr(c.err, "released") != NULL);
}

/* The next in the queue has another node: the one that was asked is deleted. */
static void next_in_line(void)
{
    struct program next;
    keep("next");
    cli_start_fed(&next, ARGS("lock", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    cli_start(&c, ARGS("break", "--wait", "60", path));
    CHECK_WITHIN(GENEROUS, cli_asked(path));
    let_go();
    CHECK_EQ(program_wait(&c), 0);
    CHECK_WITHIN(GENEROUS, program_said(&next, "in\n"));
    CHECK(!cli_asked(path));
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 1);
}

static void patience_ends(void)
{
    keep("patience");
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", "--wait", ".3", path)), 0);
    const char *asked = strstr(c.err, "asked"), *deleted = strstr(c.err, "deleted");
    CHECK(asked != NULL && deleted != NULL && asked < deleted);
    CHECK_EQ(program_wait(&holder), 76);
}

/* The servers are stopped for longer than the wait: that ends no look, so the holder's node is deleted. */
static void slow_answers(void)
{
    enum { STOPPED_MS = 1500 };
    keep("slow");
    cli_start(&c, ARGS("break", "--force", "--yes", "--wait", ".3", path));
    bool asked = false;
    for (int64_t until = pdk__test_now_ms() + GENEROUS; !asked && pdk__test_now_ms() < until; pdk__test_nap())
        asked = program_complained(&c, "asked");
    pdk__server_pause(cli_server());
    int64_t until = pdk__test_now_ms() + STOPPED_MS;
    while (pdk__test_now_ms() < until)
        pdk__test_nap();
    pdk__server_resume(cli_server());
    CHECK(asked);
    CHECK_EQ(program_wait(&c), 0);
    CHECK(strstr(c.err, "deleted") != NULL);
    CHECK_EQ(program_wait(&holder), 76);
}

/* --- the holder that is asked ------------------------------------------------------------------------------------ */

static void command_ends(void)
{
    cli_start(&holder, ARGS("lock", fresh("ends"), "sh", "-c",
                            "exec 2>/dev/null; trap 'echo asked; exit 7' TERM; echo in; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    CHECK_EQ(cli_run(&c, ARGS("break", "--wait", "60", path)), 0);
    CHECK_EQ(program_wait(&holder), 7);
    CHECK_STR(holder.out, "in\nasked\n");
    CHECK(strstr(holder.err, "asks for the lock") != NULL);
    CHECK_ONE_LINE(&holder);
}

static void command_goes_on(void)
{
    keep("goes-on");
    CHECK_EQ(cli_run(&c, ARGS("break", path)), 0);
    CHECK_WITHIN(GENEROUS, program_complained(&holder, "asks for the lock"));
    CHECK(cli_alive(holder.pid));
    let_go();
}

static void other_signal(void)
{
    cli_start(&holder, ARGS("lock", "-q", "--on-revoke=USR1", fresh("usr1"), "sh", "-c",
                            "exec 2>/dev/null; trap 'echo usr1; exit 0' USR1; echo in; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    CHECK_EQ(cli_run(&c, ARGS("break", path)), 0);
    CHECK_EQ(program_wait(&holder), 0);
    CHECK_STR(holder.out, "in\nusr1\n");
    CHECK_STR(holder.err, "");
}

/* Asked while it waited: the request was there before the grant. */
static void asked_before(void)
{
    struct program next;
    keep("before");
    cli_start(&next, ARGS("lock", path, "sh", "-c", "trap 'exit 7' TERM; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    cli_ask_last(path);
    let_go();
    int status = program_wait(&next);
    CHECK(status == 7 || status == 128 + 15); /* the trap may come too late */
}

static void leader_resigns(void)
{
    struct program next;
    cli_start(&holder, ARGS("elect", "--keep", fresh("resigns"), "sh", "-c", "echo in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    cli_start_fed(&next, ARGS("elect", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    CHECK_EQ(cli_run(&c, ARGS("break", "--wait", "60", path)), 0);
    CHECK_WITHIN(GENEROUS, program_said(&next, "in\n"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2); /* it is a candidate again */
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 1);
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\nin\n"));
    kill(holder.pid, SIGTERM);
    CHECK_EQ(program_wait(&holder), 128 + SIGTERM);
}

static void hold_says_so(void)
{
    cli_start_fed(&holder, ARGS("hold", fresh("hold")));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "\n"));
    CHECK_EQ(cli_run(&c, ARGS("break", path)), 0);
    CHECK_WITHIN(GENEROUS, program_complained(&holder, "asks for the lock"));
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 0);
    CHECK_ONE_LINE(&holder);
}

static void not_permitted(void)
{
    cli_start_fed(&holder,
                  ARGS("lock", "--acl", "world:anyone:rcd", fresh("private"), "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    CHECK_EQ(cli_run(&c, ARGS("break", path)), 77);
    CHECK_ONE_LINE(&c);
    CHECK(!cli_asked(path));
    let_go();
}

static bool flag(const json_t *top, const char *key)
{
    CHECK(json_is_boolean(json_object_get(top, key)));
    return json_is_true(json_object_get(top, key));
}

static void in_json(void)
{
    keep("json");
    CHECK_EQ(cli_run(&c, ARGS("break", "--json", path)), 0);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK(top != NULL);
    CHECK_STR(json_string_value(json_object_get(top, "path")), path);
    CHECK_STR(json_string_value(json_object_get(json_object_get(top, "holder"), "label")), "night shift");
    CHECK(flag(top, "asked") && !flag(top, "removed") && !flag(top, "gone"));
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("break", "--json", "--force", "-y", path)), 0);
    top = json_loads(c.out, 0, NULL);
    CHECK(!flag(top, "asked") && flag(top, "removed") && flag(top, "gone"));
    json_decref(top);
    CHECK_EQ(program_wait(&holder), 76);
    CHECK_EQ(cli_run(&c, ARGS("break", "--json", path)), 66);
    top = json_loads(c.out, 0, NULL);
    CHECK(json_is_null(json_object_get(top, "holder")));
    json_decref(top);
}

/* By its name, or by its session; the others stay, and so does all where none is named. */
static void chosen(void)
{
    char session[32];
    fresh("chosen");
    cli_make_ephemeral(path, "0123456789abcdef-00000001-__READ__0000000000", "");
    cli_make_ephemeral(path, "0123456789abcdef-00000002-__READ__0000000001", "");
    cli_make(path, "0123456789abcdef-00000003-__READ__0000000002", "");
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", "--node", "no-such", path)), 66);
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", "--session", "1", path)), 66);
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", "--session", "night", path)), 64);
    CHECK_EQ(cli_children(path), 3);
    CHECK_EQ(
        cli_run(&c, ARGS("break", "--force", "--yes", "--node", "0123456789abcdef-00000002-__READ__0000000001", path)),
        0);
    CHECK(strstr(c.out, "00000002-__READ__") != NULL && strstr(c.out, "00000001-__READ__") == NULL);
    CHECK_EQ(cli_children(path), 2);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(sscanf(strchr(c.out, '\n'), "%*s %*s %*s %31s", session) == 1 && strlen(session) == 16);
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", "--session", session, path)), 0);
    CHECK_EQ(cli_children(path), 1);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "00000003-__READ__") != NULL);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the holder is shown and asked", asks},
        {"nobody holds it: 66", nobody},
        {"--force --yes takes the lock away", forced},
        {"--force without a terminal and without --yes is refused", not_asked_twice},
        {"-w gives up on a holder who does not give it back", still_held},
        {"-w ends when it has been given back", given_back},
        {"-w ends when the next in line has it", next_in_line},
        {"-w with --force asks first, and takes it away after that", patience_ends},
        {"-w with --force takes it away although the servers are slow to answer", slow_answers},
        {"a node that may not be written to is left alone: 77", not_permitted},
        {"a command under a lock that is asked for is asked to end", command_ends},
        {"--on-revoke=ignore lets it go on", command_goes_on},
        {"another signal can be chosen", other_signal},
        {"who was asked before the grant is told with it", asked_before},
        {"a leader that is asked resigns, and stands again with --keep", leader_resigns},
        {"hold says so, and goes on", hold_says_so},
        {"--json tells what came of it", in_json},
        {"--node and --session choose whose node goes", chosen},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/break", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
