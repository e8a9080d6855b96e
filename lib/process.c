#include "lib/process.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* The mark stays on this variable where there is no page. */
static atomic_uint_least64_t spare_page;
static atomic_uint_least64_t *page = &spare_page;

/* A child inherits it, and so its mark differs from that of every ancestor. */
static atomic_uint_least64_t last_mark;

/* The kernel wipes the page in every child. Where it does not, the process number is compared as well. */
static bool kernel_wipes;

static void wipe(void) { atomic_store(page, 0); }

/* An emulator may accept every advice and follow none. It is asked for one that does not exist. */
static bool advise(void *memory, size_t size)
{
    enum { NO_ADVICE = -1 };
    return madvise(memory, size, NO_ADVICE) != 0 && madvise(memory, size, MADV_WIPEONFORK) == 0;
}

static void prepare(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        kernel_wipes = advise(memory, size);
        page = memory;
    }
    pthread_atfork(NULL, NULL, wipe);
}

struct pdk__process pdk__process_self(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    uint_least64_t mark = atomic_load(page);
    if (mark == 0) {
        uint_least64_t made = atomic_fetch_add(&last_mark, 1) + 1;
        if (atomic_compare_exchange_strong(page, &mark, made))
            mark = made;
    }
    return (struct pdk__process){.pid = getpid(), .mark = mark};
}

bool pdk__process_is_self(struct pdk__process process)
{
    return atomic_load_explicit(page, memory_order_relaxed) == process.mark &&
           (kernel_wipes || getpid() == process.pid);
}
