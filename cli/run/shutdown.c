#include "cli/run/shutdown.h"

#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/notify.h"
#include "lib/assert.h"

#include <signal.h>
#include <unistd.h>

/*
 * The command's status is known and true by now: the lease covered the command's whole life, or the status is that of a
 * lost lock. The session deletes the node in the background as well. A prompt return to the shell is worth more than
 * the certainty that the next contender need not wait.
 */
enum { REPORT_MS = 1000, PATIENCE_MS = 5000, IMPATIENT_MS = 1000 };

void pdk__cli_shutdown_begin(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note = {
        .kind = NOTE_LEAVE, .status = r->status, .pid = r->child, .lost = r->lost || pdk__cli_runner_lost(r)};
    assert(!r->leaving);
    r->leaving = true;
    pdk__cli_notify("STOPPING=1\nSTATUS=%s: releasing", r->lock->common.path);
    r->left_ms = pdk__cli_now_ms();
    if (r->channel >= 0)
        pdk__cli_channel_send(r->channel, &note);
}

/* Not the second of a pair, as timeout(1) and service managers send: to the process, and to its group. */
void pdk__cli_shutdown_hurry(struct pdk__cli_runner *r, bool from_terminal)
{
    assert(r->leaving);
    r->abandoned = r->abandoned || from_terminal || pdk__cli_now_ms() - r->left_ms >= IMPATIENT_MS;
}

static bool waits(const struct pdk__cli_runner *r)
{
    return r->leaving && !r->abandoned && r->channel >= 0 && (r->child == 0 || r->dead);
}

/* For a lost lock, the loss was reported already. */
static bool reports(const struct pdk__cli_runner *r) { return !r->lost && !r->lock->common.quiet; }

static int64_t report_at(const struct pdk__cli_runner *r)
{
    if (!reports(r) || r->reported_wait)
        return -1;
    return r->suspended ? r->left_ms : r->left_ms + REPORT_MS;
}

int64_t pdk__cli_shutdown_due(const struct pdk__cli_runner *r)
{
    return waits(r) ? pdk__cli_earlier(report_at(r), r->left_ms + PATIENCE_MS) : -1;
}

static void report_wait(struct pdk__cli_runner *r)
{
    const char *path = r->lock->common.path;
    int seconds = PATIENCE_MS / 1000;
    r->reported_wait = true;
    if (r->child != 0)
        pdk__cli_message("%s: the command ended with %d; waiting up to %d s for a server, to release the %s", path,
                         r->status, seconds, pdk__cli_runner_noun(r));
    else
        pdk__cli_message("%s: waiting up to %d s for a server, to leave the queue", path, seconds);
}

/* The end of a process 1, as in a container, ends the process that keeps the session. */
static void report_abandoned(const struct pdk__cli_runner *r)
{
    const char *path = r->lock->common.path;
    bool alone = getpid() == 1;
    if (r->child != 0)
        pdk__cli_message(
            "%s: no server answers: the %s %sends with its session, %.3g s after the servers last heard of it", path,
            pdk__cli_runner_noun(r), alone ? "" : "is released in the background, or ",
            (double)r->lock->page->timeout_ms / 1000);
    else
        pdk__cli_message("%s: no server answers: %s", path,
                         alone ? "the place in the queue ends with its session"
                               : "the queue is left in the background");
}

static void abandon(struct pdk__cli_runner *r)
{
    assert(!r->abandoned && r->leaving);
    r->abandoned = true;
    if (reports(r))
        report_abandoned(r);
    if (r->lost && r->session != 0)
        kill(r->session, SIGKILL); /* it hangs, or was stopped: it must not renew a lost lock */
}

void pdk__cli_shutdown_step(struct pdk__cli_runner *r)
{
    int64_t now = pdk__cli_now_ms(), at = report_at(r);
    if (!waits(r))
        return;
    if (at >= 0 && now >= at)
        report_wait(r);
    if (now - r->left_ms >= PATIENCE_MS)
        abandon(r);
}
