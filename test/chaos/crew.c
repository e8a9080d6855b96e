#include "test/chaos/crew.h"

#include "test/lib/check.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void note(struct crew *crew, enum event event, int i)
{
    history_write(crew->log, &(struct record){.event = event, .rc = i, .pid = (int32_t)crew->places[i].pid});
}

/* --- coming ------------------------------------------------------------------------------------------------------ */

static void connect_place(struct crew *crew, struct place *p)
{
    for (int i = 0; i < crew->e->n; i++) {
        p->proxy[i] = pdk__proxy_new(pdk__server_port(crew->e->server[i]), false);
        snprintf(p->hosts + strlen(p->hosts), 32, "%s127.0.0.1:%d", i > 0 ? "," : "", pdk__proxy_port(p->proxy[i]));
    }
}

static void become(const struct crew *crew, int i, const char *file)
{
    char session[16], tick[16], seed[32];
    snprintf(session, sizeof session, "%d", crew->session_ms);
    snprintf(tick, sizeof tick, "%d", crew->tick_ms);
    snprintf(seed, sizeof seed, "%" PRIu64, crew->seed * 1000003 + (uint64_t)(i * 1009 + crew->places[i].generation));
    execl(crew->program, crew->program, file, crew->places[i].hosts, session, tick, crew->path, seed, (char *)NULL);
    perror(crew->program);
    _exit(127);
}

void crew_hire(struct crew *crew, int i)
{
    char file[512];
    struct place *p = &crew->places[i];
    history_close(p->history);
    p->generation++;
    snprintf(file, sizeof file, "%s/client-%02d-%03d.history", crew->dir, i, p->generation);
    p->history = history_create(file, i, p->generation);
    CHECK(p->history != NULL);
    pid_t pid = pdk__test_fork();
    if (pid == 0)
        become(crew, i, file);
    CHECK(pid > 0);
    p->pid = pid;
    p->stopped = false;
    note(crew, BORN, i);
}

void crew_begin(struct crew *crew)
{
    for (int i = 0; i < crew->n; i++)
        connect_place(crew, &crew->places[i]);
    for (int i = 0; i < crew->n; i++)
        crew_hire(crew, i);
}

/* --- signals ----------------------------------------------------------------------------------------------------- */

void crew_kill(struct crew *crew, int i)
{
    struct place *p = &crew->places[i];
    kill(p->pid, SIGKILL);
    CHECK_EQ(pdk__test_wait(p->pid), -SIGKILL);
    note(crew, KILLED, i);
    p->pid = 0;
}

void crew_stop(struct crew *crew, int i)
{
    note(crew, STOPPED, i);
    kill(crew->places[i].pid, SIGSTOP);
    crew->places[i].stopped = true;
}

/* The record is written first, so that all records of the client after it woke are later. */
void crew_continue(struct crew *crew, int i)
{
    if (crew->places[i].pid == 0 || !crew->places[i].stopped)
        return;
    note(crew, CONTINUED, i);
    kill(crew->places[i].pid, SIGCONT);
    crew->places[i].stopped = false;
}

void crew_check(struct crew *crew)
{
    int status;
    for (int i = 0; i < crew->n; i++) {
        struct place *p = &crew->places[i];
        if (p->pid == 0 || waitpid(p->pid, &status, WNOHANG) != p->pid)
            continue;
        p->pid = 0;
        pdk__test_fail(__FILE__, __LINE__, "client %d of place %d ended by itself: %s %d", p->generation, i,
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

/* --- going ------------------------------------------------------------------------------------------------------- */

static bool gone(struct place *p)
{
    int status;
    if (p->pid == 0)
        return true;
    if (waitpid(p->pid, &status, WNOHANG) != p->pid)
        return false;
    p->pid = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        pdk__test_fail(__FILE__, __LINE__, "a client ended badly: wait status %d", status);
    return true;
}

void crew_finish(struct crew *crew, int limit_ms)
{
    for (int i = 0; i < crew->n; i++)
        atomic_store(&crew->places[i].history->finish, 1);
    int64_t until = now_ns() + limit_ms * INT64_C(1000000);
    for (int i = 0; i < crew->n; i++)
        while (!gone(&crew->places[i]) && now_ns() < until)
            pdk__test_nap();
}

void crew_end(struct crew *crew)
{
    for (int i = 0; i < crew->n; i++) {
        struct place *p = &crew->places[i];
        if (p->pid != 0) {
            kill(p->pid, SIGKILL);
            while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
            p->pid = 0;
        }
        history_close(p->history);
        p->history = NULL;
        for (int j = 0; j < PDK__SERVER_MAX; j++) {
            pdk__proxy_free(p->proxy[j]);
            p->proxy[j] = NULL;
        }
    }
}
