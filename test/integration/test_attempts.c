/* The numbers that tell the locks of a process apart come round, after days or, from a high beginning, at once. */
#include "test/lib/fixture.h"

#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In place of the C library's: a caller that asks for 32 bits without waiting for them begins near the end. */
ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    uint32_t near_the_end = UINT32_MAX - 11;
    if ((flags & GRND_NONBLOCK) == 0 || size != sizeof near_the_end)
        return syscall(SYS_getrandom, to, size, flags);
    memcpy(to, &near_the_end, size);
    return sizeof near_the_end;
}

static bool comes_round(const char *path)
{
    bool high = *fixture_find(path, "-ffffffff-lock-") != '\0';
    return high || *fixture_find(path, "-fffffffe-lock-") != '\0';
}

static void come_round(void)
{
    const char *path = fixture_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path);
    bool seen = false;
    for (int i = 0; i < 40; i++) {
        CHECK_RC(pdk_mutex_lock(m), 0);
        seen = seen || comes_round(path);
        CHECK_RC(pdk_mutex_unlock(m), 0);
    }
    CHECK(seen);
    fixture_end(c, m);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"locks go on when their numbers come round", come_round},
        {0},
    };
    return fixture_main(argc, argv, "attempts", tests, ON_ONE);
}
