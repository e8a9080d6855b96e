#include "test/lib/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[8] = "chaos 3";

/* Readers and writers in other languages know the layout. */
_Static_assert(offsetof(struct history, records) == 120 && sizeof(struct record) == 104, "layout of a history");

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t now_ns(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t wall_ns(void) { return read_clock(CLOCK_REALTIME); }

static struct history *map(int fd, int protection)
{
    void *h = mmap(NULL, sizeof(struct history), protection, MAP_SHARED, fd, 0);
    int error = errno;
    close(fd);
    errno = error;
    return h != MAP_FAILED ? h : NULL;
}

/* Sparse: only what is written takes room on the disk. */
struct history *history_create(const char *file, int place, int generation)
{
    int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    if (ftruncate(fd, sizeof(struct history)) != 0) {
        close(fd);
        return NULL;
    }
    struct history *h = map(fd, PROT_READ | PROT_WRITE);
    if (h == NULL)
        return NULL;
    memcpy(h->magic, magic, sizeof h->magic);
    h->place = place;
    h->generation = generation;
    return h;
}

struct history *history_open(const char *file, bool read_only)
{
    struct stat st;
    int fd = open(file, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) != 0 || st.st_size != sizeof(struct history)) {
        close(fd);
        errno = EINVAL;
        return NULL;
    }
    struct history *h = map(fd, PROT_READ | (read_only ? 0 : PROT_WRITE));
    if (h != NULL && memcmp(h->magic, magic, sizeof magic) != 0) {
        history_close(h);
        errno = EINVAL;
        return NULL;
    }
    return h;
}

void history_close(struct history *h)
{
    if (h != NULL)
        munmap(h, sizeof *h);
}

/* A full history would make every judgement worthless, so the process aborts. */
void history_write(struct history *h, const struct record *r)
{
    int i = atomic_fetch_add(&h->n, 1);
    if (i >= RECORDS_MAX)
        abort();
    struct record *to = &h->records[i];
    to->ns = r->ns != 0 ? r->ns : now_ns();
    to->rc = r->rc;
    to->token = r->token;
    to->session = r->session;
    to->valid_ms = r->valid_ms;
    to->kind = r->kind;
    to->pid = r->pid != 0 ? r->pid : (int32_t)getpid();
    memcpy(to->node, r->node, sizeof to->node);
    atomic_store_explicit(&to->event, r->event, memory_order_release);
}

size_t history_size(const struct history *h)
{
    int n = atomic_load(&h->n);
    return n < RECORDS_MAX ? (size_t)n : RECORDS_MAX;
}
