#include "test/demo/fleet.h"

#include "test/lib/check.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 48 };

/* The zones are written out: no data base of zones is needed. */
static const struct machine {
    int ahead_s;
    const char *zone;
} fleet[FLEET_SIZE] = {{600, "NZST-12"}, {450, "JST-9"}, {320, "IST-5:30"}, {170, "CET-1CEST"}, {40, "UTC0"},
                       {-60, "EST5EDT"}, {-210, "BRT3"}, {-350, "PST8PDT"}, {-480, "HST10"},    {-600, "SST11"}};

int fleet_ahead_s(int machine) { return fleet[machine].ahead_s; }

int fleet_start_ms(int machine, int period_ms) { return -fleet[machine].ahead_s * period_ms / FLEET_HOUR_S; }

/* faketime(1) has shared memory, and deletes it at its end: with its input, also when this test is interrupted. */
static const char keeper[] =
    "exec 3<&0; faketime -m --exclude-monotonic -f +0 sh -c '"
    "echo \"LD_PRELOAD=$LD_PRELOAD\"; echo \"FAKETIME_SHARED=$FAKETIME_SHARED\"; cat' <&3 & wait";

static struct program faketime;
static char preload[PATH_MAX], shared[256];

static void find_faketime(void)
{
    struct program p;
    if (program_run(&p, ARGS("faketime", "-m", "-f", "+0", "true"), PROGRAM_ERRORS) == 127)
        SKIP("faketime is missing");
    CHECK_EQ(p.status, 0);
}

/* The library of ours comes first. */
void fleet_begin(void)
{
    const char *timers = program_built("test/demo/.libs/true_timers.so"), *line;
    find_faketime();
    CHECK_EQ(access(timers, R_OK), 0);
    program_start(&faketime, ARGS("sh", "-c", keeper), PROGRAM_INPUT | PROGRAM_OUTPUT);
    line = program_hear(&faketime);
    CHECK(strncmp(line, "LD_PRELOAD=", 11) == 0);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s:%s", timers, line + 11);
    snprintf(shared, sizeof shared, "%s", program_hear(&faketime));
}

void fleet_end(void) { program_end(&faketime); }

void fleet_start(struct program *p, int machine, int number, const char *const *command)
{
    char ahead[32], zone[64], which[32], period[32];
    const char *argv[WORDS_MAX] = {"setsid", "env", preload, shared, "FAKETIME_DONT_FAKE_MONOTONIC=1",
                                   ahead,    zone,  which,   period};
    size_t n = 9;
    snprintf(ahead, sizeof ahead, "FAKETIME=%+d", fleet[machine].ahead_s);
    snprintf(zone, sizeof zone, "TZ=%s", fleet[machine].zone);
    snprintf(which, sizeof which, "MACHINE=%d", machine);
    snprintf(period, sizeof period, "PERIOD=%d", number);
    for (; *command != NULL; command++) {
        CHECK(n < WORDS_MAX - 1);
        argv[n++] = *command;
    }
    program_start(p, argv, PROGRAM_ERRORS);
}

static void signal_session(pid_t session, int signal)
{
    DIR *proc = opendir("/proc");
    CHECK(proc != NULL);
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid > 0 && getsid(pid) == session)
            kill(pid, signal);
    }
    closedir(proc);
}

/* A process that was started while the first pass looked is found by the last. */
void fleet_kill(const struct program *p)
{
    CHECK(p->runs && getsid(p->pid) == p->pid);
    signal_session(p->pid, SIGSTOP);
    signal_session(p->pid, SIGKILL);
    signal_session(p->pid, SIGKILL);
}
