#include "test/chaos/workers.h"

#include "test/lib/check.h"
#include "test/lib/lanes.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(struct workers *workers, enum event event, int i)
{
    history_write(workers->log,
                  &(struct record){.event = event, .rc = i, .pid = (int32_t)workers->places[i].program.pid});
}

/* --- coming ------------------------------------------------------------------------------------------------------ */

static void connect_place(struct workers *workers, struct place *p)
{
    for (int i = 0; i < workers->e->n; i++) {
        p->proxy[i] = pdk__proxy_new(pdk__server_port(workers->e->server[i]), workers->secure);
        snprintf(p->hosts + strlen(p->hosts), 32, "%s127.0.0.1:%d", i > 0 ? "," : "", pdk__proxy_port(p->proxy[i]));
    }
}

static void start(struct workers *workers, int i, const char *file)
{
    char session[16], tick[16], seed[32];
    struct place *p = &workers->places[i];
    snprintf(session, sizeof session, "%d", workers->session_ms);
    snprintf(tick, sizeof tick, "%d", workers->tick_ms);
    snprintf(seed, sizeof seed, "%" PRIu64, workers->seed * 1000003 + (uint64_t)(i * 1009 + p->generation));
    program_start(
        &p->program,
        ARGS(workers->worker, file, p->hosts, session, lane_rules[LANE_LOCK].path, seed, tick, workers->craft[i]), 0);
}

void workers_hire(struct workers *workers, int i)
{
    char file[512];
    struct place *p = &workers->places[i];
    history_close(p->history);
    p->generation++;
    snprintf(file, sizeof file, "%s/client-%02d-%03d.history", workers->dir, i, p->generation);
    p->history = history_create(file, i, p->generation);
    CHECK(p->history != NULL);
    start(workers, i, file);
    p->stopped = false;
    note(workers, BORN, i);
}

void workers_begin(struct workers *workers)
{
    setenv("PADDOCK_TEST_TRACE", "yes", 1);
    for (int i = 0; i < workers->n; i++)
        connect_place(workers, &workers->places[i]);
    for (int i = 0; i < workers->n; i++)
        workers_hire(workers, i);
}

/* --- signals ----------------------------------------------------------------------------------------------------- */

void workers_kill(struct workers *workers, int i)
{
    struct program *p = &workers->places[i].program;
    program_kill(p);
    CHECK_EQ(p->status, -SIGKILL);
    note(workers, KILLED, i);
}

void workers_stop(struct workers *workers, int i)
{
    note(workers, STOPPED, i);
    kill(workers->places[i].program.pid, SIGSTOP);
    workers->places[i].stopped = true;
}

/* The record is written first, so that all records of the client after it woke are later. */
void workers_continue(struct workers *workers, int i)
{
    struct place *p = &workers->places[i];
    if (!p->program.runs || !p->stopped)
        return;
    note(workers, CONTINUED, i);
    kill(p->program.pid, SIGCONT);
    p->stopped = false;
}

void workers_check(struct workers *workers)
{
    for (int i = 0; i < workers->n; i++) {
        struct place *p = &workers->places[i];
        if (p->program.runs && program_ended(&p->program))
            pdk__test_fail(__FILE__, __LINE__, "client %d of place %d ended by itself: status %d", p->generation, i,
                           p->program.status);
    }
}

/* --- going ------------------------------------------------------------------------------------------------------- */

static bool gone(struct program *p)
{
    if (!p->runs)
        return true;
    if (program_ended(p) && p->status != 0)
        pdk__test_fail(__FILE__, __LINE__, "a client ended badly: status %d", p->status);
    return !p->runs;
}

void workers_finish(struct workers *workers, int limit_ms)
{
    for (int i = 0; i < workers->n; i++)
        atomic_store(&workers->places[i].history->finish, 1);
    int64_t until = now_ns() + limit_ms * INT64_C(1000000);
    for (int i = 0; i < workers->n; i++)
        while (!gone(&workers->places[i].program) && now_ns() < until)
            pdk__test_nap();
}

void workers_end(struct workers *workers)
{
    for (int i = 0; i < workers->n; i++) {
        struct place *p = &workers->places[i];
        program_kill(&p->program);
        history_close(p->history);
        p->history = NULL;
        for (int j = 0; j < PDK__SERVER_MAX; j++) {
            pdk__proxy_free(p->proxy[j]);
            p->proxy[j] = NULL;
        }
    }
}
