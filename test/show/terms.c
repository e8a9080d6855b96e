#include "test/show/terms.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static struct terms *map(const char *file, int flags)
{
    int fd = open(file, O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0)
        return NULL;
    void *t = ftruncate(fd, sizeof(struct terms)) == 0
                  ? mmap(NULL, sizeof(struct terms), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                  : MAP_FAILED;
    close(fd);
    return t != MAP_FAILED ? t : NULL;
}

struct terms *terms_create(const char *file) { return map(file, O_CREAT | O_EXCL); }
struct terms *terms_open(const char *file) { return map(file, 0); }
void terms_close(struct terms *t) { munmap(t, sizeof *t); }

struct term *terms_now(struct terms *t)
{
    int64_t n = atomic_load(&t->n);
    return n > 0 && atomic_load(&t->all[n - 1].ended_ns) == 0 ? &t->all[n - 1] : NULL;
}
