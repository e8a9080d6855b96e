#include "cli/run/metrics.h"

#include "cli/message.h"
#include "cli/number.h"

#include <errno.h>
#include <fcntl.h>
#include <paddock/stats.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_MS = 5000 };

/* The collector reads names that end in ".prom", so not this one. The caller's. */
static char *beside(const char *file)
{
    char *name = NULL;
    return asprintf(&name, "%s.%d", file, (int)getpid()) >= 0 ? name : NULL;
}

/* A file that a process of this number has left is no obstacle; nor does a link lead elsewhere. */
static int create(const char *name)
{
    unlink(name);
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* A name that leads to a device, a pipe or another file would be replaced, and not written to. */
const char *pdk__cli_metrics_check(const char *file)
{
    struct stat st;
    if (*file == '\0' || (lstat(file, &st) == 0 && !S_ISREG(st.st_mode)))
        return "it is no regular file";
    char *name = beside(file);
    int fd = name != NULL ? create(name) : -1;
    const char *why = fd < 0 ? strerror(errno) : NULL;
    if (fd >= 0) {
        close(fd);
        unlink(name);
    }
    free(name);
    return why;
}

void pdk__cli_metrics_begin(struct pdk__cli_metrics *m, const struct pdk__cli_options *o, const char *file)
{
    *m = (struct pdk__cli_metrics){.file = file, .options = o, .due = -1};
}

/* 0, or an errno. */
static int fill(int fd, const char *text, size_t size)
{
    int why = 0;
    while (size > 0 && why == 0) {
        ssize_t n = write(fd, text, size);
        why = n < 0 ? errno : 0;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return close(fd) != 0 && why == 0 ? errno : why;
}

static int replace(const char *file, const char *text, size_t size)
{
    char *name = beside(file);
    int fd = name != NULL ? create(name) : -1;
    int why = fd >= 0 ? fill(fd, text, size) : errno;
    if (why == 0 && rename(name, file) != 0)
        why = errno;
    if (why != 0 && fd >= 0)
        unlink(name);
    free(name);
    return why;
}

/* Not where it would wait for the reader: the lease is renewed meanwhile. */
static void complain(struct pdk__cli_metrics *m, int why)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (m->complained || (!m->options->quiet && (poll(&fd, 1, 0) != 1 || (fd.revents & POLLOUT) == 0)))
        return;
    if (!m->options->quiet)
        pdk__cli_message("--metrics %s: %s", m->file, strerror(why));
    m->complained = true;
}

void pdk__cli_metrics_job_begin(struct pdk__cli_metrics *m) { m->began_ms = pdk__cli_now_ms(); }

void pdk__cli_metrics_job_end(struct pdk__cli_metrics *m, int status, bool skipped)
{
    m->took_ms = skipped ? 0 : pdk__cli_now_ms() - m->began_ms;
    m->ended_s = time(NULL);
    m->status = status;
    m->skipped = skipped;
}

static void gauge(FILE *out, const char *name, int n_labels, const char *labels, double value)
{
    fprintf(out, "# TYPE %s gauge\n%s%.*s %.15g\n", name, name, n_labels, labels, value);
}

/* With the LABELS of the samples there. */
static void write_job(const struct pdk__cli_metrics *m, FILE *out, int n, const char *labels)
{
    if (m->ended_s != 0) {
        gauge(out, "paddock_job_end_time_seconds", n, labels, (double)m->ended_s);
        gauge(out, "paddock_job_exit_status", n, labels, m->status);
        gauge(out, "paddock_job_seconds", n, labels, (double)m->took_ms / 1000);
        gauge(out, "paddock_job_skipped", n, labels, m->skipped);
    }
    if (m->last_success_ms != 0)
        gauge(out, "paddock_job_last_success_time_seconds", n, labels, (double)m->last_success_ms / 1000);
}

/* TEXT, which is freed, and the last job after it, of *SIZE bytes. The caller's. NULL: memory is out. */
static char *add_job(const struct pdk__cli_metrics *m, char *text, size_t *size)
{
    char *all = NULL;
    const char *sample = strstr(text, "\npaddock_connected{"), *labels = sample != NULL ? strchr(sample, '{') : NULL;
    int n = labels != NULL ? (int)strcspn(labels, "\n") : 0;
    while (n > 0 && labels[n - 1] != '}')
        n--;
    FILE *out = open_memstream(&all, size);
    if (out != NULL) {
        fputs(text, out);
        write_job(m, out, n, labels);
    }
    free(text);
    if (out != NULL && fclose(out) == 0)
        return all;
    free(all);
    return NULL;
}

static void write_stats(struct pdk__cli_metrics *m, const pdk_stats *s)
{
    const char *labels[] = {"command", m->options->command, "path", m->options->path, NULL};
    size_t size = pdk_stats_format(s, PDK_METRICS_PROMETHEUS, labels, NULL, 0) + 1;
    char *text = malloc(size);
    if (text == NULL)
        return;
    pdk_stats_format(s, PDK_METRICS_PROMETHEUS, labels, text, size);
    text = add_job(m, text, &size);
    if (text == NULL)
        return;
    int why = replace(m->file, text, size);
    if (why != 0)
        complain(m, why);
    free(text);
}

void pdk__cli_metrics_write(struct pdk__cli_metrics *m, pdk_client *c)
{
    pdk_stats *s;
    if (m->file == NULL || pdk_client_stats(c, &s) != 0)
        return;
    m->due = pdk__cli_now_ms() + EVERY_MS;
    write_stats(m, s);
    pdk_stats_free(s);
}

void pdk__cli_metrics_step(struct pdk__cli_metrics *m, pdk_client *c, bool news)
{
    if (news || m->due < 0 || pdk__cli_now_ms() >= m->due)
        pdk__cli_metrics_write(m, c);
}
