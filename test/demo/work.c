#include "test/demo/work.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int64_t work_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct work *map(const char *file, int flags)
{
    int fd = open(file, O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0)
        return NULL;
    void *w = ftruncate(fd, sizeof(struct work)) == 0
                  ? mmap(NULL, sizeof(struct work), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                  : MAP_FAILED;
    close(fd);
    return w != MAP_FAILED ? w : NULL;
}

struct work *work_create(const char *file) { return map(file, O_CREAT | O_EXCL); }
struct work *work_open(const char *file) { return map(file, 0); }
void work_close(struct work *w) { munmap(w, sizeof *w); }

void work_stamp(struct work *w, int64_t ns)
{
    atomic_store(&w->last_ns, ns);
    if (atomic_load(&w->first_ns) == 0)
        atomic_store(&w->first_ns, ns);
}

void work_nap(void) { nanosleep(&(struct timespec){.tv_nsec = WORK_EVERY_MS * 1000000L}, NULL); }
