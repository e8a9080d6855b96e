#include "cli/metrics.h"

#include "cli/number.h"

#include <errno.h>
#include <fcntl.h>
#include <paddock/stats.h>
#include <stdio.h>
#include <stdlib.h>
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

int pdk__cli_metrics_check(const char *file)
{
    char *name = beside(file);
    int fd = name != NULL ? create(name) : -1;
    int rc = fd >= 0 ? 0 : errno;
    if (fd >= 0) {
        close(fd);
        unlink(name);
    }
    free(name);
    return rc;
}

void pdk__cli_metrics_begin(struct pdk__cli_metrics *m, const struct pdk__cli_options *o, const char *file)
{
    *m = (struct pdk__cli_metrics){.file = file, .options = o, .due = -1};
}

static void replace(const char *file, const char *text, size_t size)
{
    char *name = beside(file);
    int fd = name != NULL ? create(name) : -1;
    bool written = fd >= 0 && write(fd, text, size) == (ssize_t)size;
    if (fd >= 0 && close(fd) != 0)
        written = false;
    if (fd >= 0 && (!written || rename(name, file) != 0))
        unlink(name);
    free(name);
}

static void write_stats(const struct pdk__cli_metrics *m, const pdk_stats *s)
{
    const char *labels[] = {"command", m->options->command, "path", m->options->path, NULL};
    size_t size = pdk_stats_format(s, PDK_METRICS_PROMETHEUS, labels, NULL, 0) + 1;
    char *text = malloc(size);
    if (text == NULL)
        return;
    pdk_stats_format(s, PDK_METRICS_PROMETHEUS, labels, text, size);
    replace(m->file, text, size - 1);
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
