#include "lib/zk/attempt.h"
#include <pthread.h>
#include <sys/random.h>

/*
 * Unique within a session, whichever threads and clients of the process share it, hence one counter for the process. It
 * begins at a random number, because a later process may attach to the same session while the first one's node still
 * exists. No lock: the child of a fork() might find it taken. Once the numbers have come round, a client leaves out
 * those that its own requests have.
 */
atomic_uint_least64_t pdk__attempts_drawn;
static uint32_t beginning;

static void begin_somewhere(void)
{
    uint32_t somewhere;
    if (getrandom(&somewhere, sizeof somewhere, GRND_NONBLOCK) == sizeof somewhere)
        beginning = somewhere;
}

uint32_t pdk__attempt_next(bool *again)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t attempt;
    pthread_once(&once, begin_somewhere);
    do {
        uint64_t n = atomic_fetch_add(&pdk__attempts_drawn, 1) + 1;
        attempt = (uint32_t)(beginning + n);
        *again = n > UINT32_MAX;
    } while (attempt == 0); /* 0 means no attempt to a machine */
    return attempt;
}
