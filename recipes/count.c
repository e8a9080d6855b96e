#include "recipes/count.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/follower.h"

enum { NUMBER_SIZE = 4 };

struct pdk__count {
    struct pdk__follower follower;
    pdk__count_cb *cb;
    void *arg;
};

static struct pdk__count *count_of(struct pdk__follower *f) { return PDK__MEMBER(f, struct pdk__count, follower); }

static void look(struct pdk__follower *f) { pdk__follower_read(f, NULL); }

static int32_t number_of(const unsigned char *bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < NUMBER_SIZE; i++)
        number = number << 8 | bytes[i];
    return (int32_t)number;
}

static void was_read(struct pdk__follower *f, const char *data, size_t size, int64_t token)
{
    struct pdk__count *count = count_of(f);
    (void)token;
    if (size == NUMBER_SIZE)
        count->cb(number_of((const unsigned char *)data), count->arg);
}

static void absent(struct pdk__follower *f) { (void)f; }

static void release(struct pdk__follower *f) { pdk__free(count_of(f)); }

static const struct pdk__follower_calls calls = {
    .verb = "read the count", .look = look, .node = was_read, .absent = absent, .free = release};

bool pdk__count_looked(const struct pdk__count *count) { return count->follower.answered; }

int pdk__count_new(struct pdk__count **out, struct pdk_client *c, const char *path, pdk__count_cb *cb, void *arg)
{
    assert(cb != NULL && path[0] == '/');
    struct pdk__count *count = pdk__alloc(sizeof *count);
    int rc = count != NULL ? pdk__follower_init(&count->follower, c, path, &calls) : PDK_ENOMEM;
    if (rc != 0) {
        pdk__free(count);
        return rc;
    }
    count->cb = cb;
    count->arg = arg;
    pdk__follower_begin(&count->follower);
    *out = count;
    return 0;
}

void pdk__count_free(struct pdk__count *count)
{
    if (count != NULL)
        pdk__follower_free(&count->follower);
}
