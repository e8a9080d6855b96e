/* A hold: its stages, its callback, and what aborts. There is no server: the reports of the claim are made here. */
#include "recipes/hold.h"
#include "recipes/lockable.h"
#include "test/lib/check.h"

#include <fcntl.h>
#include <paddock/client.h>
#include <paddock/mutex.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static pdk_client *client;
static pdk_mutex *mutex;
static struct pdk__hold hold;
static int n_reports, n_calls, last_rc;

static void on_report(struct pdk__hold *h, const struct pdk__report *report)
{
    CHECK(h == &hold);
    if (report->kind == PDK__REPORT_FAILED)
        last_rc = report->rc;
    n_reports += report->kind <= PDK__REPORT_REVOKED;
}

/* As its driver does. */
static void tell(struct pdk__claim *claim, enum pdk__report_kind kind)
{
    claim->reported(claim, &(struct pdk__report){.kind = kind});
}

static const struct pdk__verbs verbs = {.acquire = "get", .keep = "keep", .release = "return"};

static void on_released(int rc, void *arg)
{
    CHECK(arg == &hold);
    last_rc = rc;
    n_calls++;
}

/* Each test begins with a hold that was never requested, and with the client's lock. */
static void begin_with(const struct pdk__sites *sites)
{
    n_reports = n_calls = last_rc = 0;
    pdk__client_lock(client);
    CHECK_EQ(pdk__hold_init(&hold, &mutex->object, on_report, &verbs, sites), 0);
}

static void begin(void) { begin_with(NULL); }

static void end(void)
{
    pdk__hold_clear(&hold);
    pdk__client_leave(client);
}

static void start(void)
{
    static const struct pdk__conditions none;
    static const struct pdk__wish wish = {
        .rule = &pdk__rule_mutex, .conditions = &none, .data = "", .deadline_ms = PDK__NEVER};
    CHECK_RC(pdk__hold_start(&hold, &wish), 0);
    CHECK_EQ(hold.stage, PDK__HOLD_PENDING);
    CHECK(hold.n_at_work > 0);
}

static void grant_part(struct pdk__part *part)
{
    strcpy(part->claim.machine.node.name, "a-lock-0000000007");
    part->claim.reported(&part->claim, &(struct pdk__report){.kind = PDK__REPORT_GRANTED, .token = 7});
}

static void grant(void) { grant_part(&hold.one); }

/* The stage after the reports of several parts: they are judged together, when the lock is left. */
static enum pdk__hold_stage stage_then(void)
{
    pdk__client_leave(client);
    pdk__client_lock(client);
    return hold.stage;
}

static void stages(void)
{
    begin();
    start();
    grant();
    CHECK_EQ(hold.stage, PDK__HOLD_GRANTED);
    tell(&hold.one.claim, PDK__REPORT_LOST);
    CHECK_EQ(hold.stage, PDK__HOLD_LOST);
    CHECK(hold.n_at_work > 0);
    pdk__claim_release(&hold.one.claim); /* the machine never had a node, and has done its work */
    CHECK(hold.n_at_work == 0);
    start();
    grant();
    CHECK_EQ(n_reports, 3);
    pdk__hold_release(&hold);
    CHECK_EQ(hold.stage, PDK__HOLD_RELEASED);
    start();
    pdk__hold_cancel(&hold);
    CHECK_EQ(hold.stage, PDK__HOLD_FAILED);
    CHECK_RC(last_rc, PDK_ECANCELED);
    pdk__hold_release(&hold);
    CHECK_EQ(hold.stage, PDK__HOLD_FAILED);
    CHECK_EQ(hold.n_done, 3);
    end();
}

static void no_grant_with_a_part_in_doubt(void)
{
    begin_with(&(struct pdk__sites){.n = 2, .path = "/nowhere"});
    start();
    struct pdk__part *first = &hold.parts[0];
    grant_part(first);
    tell(&first->claim, PDK__REPORT_SUSPECT);
    grant_part(&hold.parts[1]);
    CHECK_EQ(stage_then(), PDK__HOLD_PENDING);
    tell(&first->claim, PDK__REPORT_HELD);
    CHECK_EQ(stage_then(), PDK__HOLD_GRANTED);
    pdk__hold_release(&hold);
    CHECK_EQ(stage_then(), PDK__HOLD_RELEASED);
    end();
}

/* All parts are lost and have done their work, as at the end of their session, before they are judged. */
static void begun_again_when_no_part_is_left(void)
{
    begin_with(&(struct pdk__sites){.n = 2, .path = "/nowhere"});
    start();
    for (int i = 0; i < 2; i++)
        grant_part(&hold.parts[i]);
    tell(&hold.parts[0].claim, PDK__REPORT_SUSPECT);
    CHECK_EQ(stage_then(), PDK__HOLD_PENDING);
    for (int i = 0; i < 2; i++) {
        tell(&hold.parts[i].claim, PDK__REPORT_LOST);
        pdk__claim_release(&hold.parts[i].claim);
    }
    CHECK_EQ(hold.n_at_work, 0);
    CHECK_EQ(stage_then(), PDK__HOLD_PENDING);
    CHECK_EQ(hold.n_at_work, 2);
    pdk__hold_cancel(&hold);
    CHECK_EQ(stage_then(), PDK__HOLD_FAILED);
    CHECK_RC(last_rc, PDK_ECANCELED);
    end();
}

static void outcome_while_the_callback_is_on_its_way(void)
{
    begin();
    start();
    grant();
    pdk__hold_expect(&hold, on_released, &hold);
    tell(&hold.one.claim, PDK__REPORT_DUE);
    CHECK(!pdk__list_empty(&hold.released_callback.link));
    pdk__list_remove(&hold.released_callback.link); /* as the callbacks' thread does before it calls */
    pdk__hold_release(&hold);
    CHECK(hold.n_at_work == 0);
    CHECK(pdk__list_empty(&hold.released_callback.link));
    pdk__client_leave(client);
    hold.released_callback.run(&hold.released_callback);
    CHECK_EQ(n_calls, 1);
    CHECK_RC(last_rc, 0);
    pdk__client_lock(client);
    end();
}

static void outcome_is_of_its_own_request(void)
{
    begin();
    start();
    pdk__hold_expect(&hold, on_released, &hold);
    pdk__hold_release(&hold);
    start(); /* before the callback has run */
    tell(&hold.one.claim, PDK__REPORT_DUE);
    pdk__hold_cancel(&hold);
    pdk__client_leave(client);
    CHECK_EQ(pdk_client_dispatch(client), 1);
    CHECK_EQ(n_calls, 1);
    CHECK_RC(last_rc, 0);
    pdk__client_lock(client);
    end();
}

static void start_at_work(void) { start(); }

static void grant_twice(void)
{
    grant();
    grant();
}

static void grant_what_failed(void)
{
    hold.one.stage = PDK__HOLD_FAILED;
    grant();
}

static void release_without_the_lock(void)
{
    pdk__client_leave(client);
    pdk__hold_release(&hold);
}

static void too_few_references(void)
{
    hold.refs = 0;
    pdk__hold_unref(&hold);
}

/* In a child, because it aborts. */
static void check_aborts(void (*wrong)(void))
{
    pid_t child = pdk__test_fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        wrong();
        _exit(0);
    }
    CHECK_EQ(pdk__test_wait(child), -SIGABRT);
}

static void broken_rules(void)
{
    begin();
    start();
    check_aborts(start_at_work);
    check_aborts(grant_twice);
    check_aborts(grant_what_failed);
    check_aborts(release_without_the_lock);
    check_aborts(too_few_references);
    pdk__hold_release(&hold);
    end();
}

static void setup(void)
{
    pdk_client_options *opts = pdk_client_options_new();
    CHECK_RC(pdk_client_options_set_dispatch(opts, true), 0);
    CHECK_RC(pdk_client_new(&client, "127.0.0.1:1", opts), 0);
    CHECK_RC(pdk_mutex_new(&mutex, client, "/nowhere", NULL), 0);
    pdk_client_options_free(opts);
}

static void teardown(void)
{
    CHECK_RC(pdk_lock_free(mutex), 0);
    CHECK_RC(pdk_client_free(client), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a hold moves by its table, and can be used again when it is done", stages},
        {"a hold of several parts is granted once none is in doubt", no_grant_with_a_part_in_doubt},
        {"a request whose parts are all lost and done begins again", begun_again_when_no_part_is_left},
        {"an outcome that comes while the callback is on its way is reported, once",
         outcome_while_the_callback_is_on_its_way},
        {"a callback gets the outcome of its own request", outcome_is_of_its_own_request},
        {"a move that does not exist, a call without the lock and a bad count abort", broken_rules},
        {0}};
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "hold", .tests = tests, .setup = setup, .teardown = teardown});
}
