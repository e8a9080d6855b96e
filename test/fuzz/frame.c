/* The proxy's view of a stream: whatever comes, it must neither read past the end nor find what is not there. */
#include "test/lib/frame.h"
#include "test/fuzz/fuzz.h"

const char pdk__fuzz_name[] = "frame";

static void check_path(const unsigned char *frame, size_t size, const char *path, size_t path_size)
{
    if (path == NULL) {
        MUST(path_size == 0);
        return;
    }
    const char *first = (const char *)frame;
    MUST(path >= first + 4 && path_size <= size && path + path_size <= first + size);
    MUST(pdk__get32((const unsigned char *)path - 4) == (int32_t)path_size);
}

static void check_request(const unsigned char *frame, size_t size)
{
    struct pdk__request r;
    if (!pdk__frame_request(frame, size, &r)) {
        MUST(size < 12);
        return;
    }
    check_path(frame, size, r.path, r.path_size);
    MUST(pdk__frame_mentions(frame, size, &r, NULL));
    bool lock = pdk__frame_mentions(frame, size, &r, "lock-");
    if (r.type != PDK__OP_MULTI)
        MUST(lock == (r.path_size > 0 && memmem(r.path, r.path_size, "lock-", 5) != NULL));
    else
        MUST(lock == (memmem(frame + 12, size - 12, "lock-", 5) != NULL));
    MUST(pdk__op_name(r.type) != NULL);
}

static void check_reply(const unsigned char *frame, size_t size)
{
    struct pdk__reply r;
    if (!pdk__frame_reply(frame, size, &r)) {
        MUST(size < 20);
        return;
    }
    check_path(frame, size, r.path, r.path_size);
    MUST(r.xid == PDK__XID_EVENT || (r.path == NULL && r.event == 0));
}

static void check_frame(const unsigned char *data, size_t size)
{
    /* Of exactly its size, so that a read past its end is seen. */
    unsigned char *frame = (unsigned char *)text_of(data, size);
    frame = realloc(frame, size);
    check_request(frame, size);
    check_reply(frame, size);
    if (size >= 12) {
        pdk__put32(frame, pdk__get32(data));
        pdk__put64(frame + 4, pdk__get64(data + 4));
        MUST(memcmp(frame, data, size) == 0);
    }
    free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    while (size > 0) {
        long n = pdk__frame_size(data, size);
        MUST(n == -1 || n == 0 || (n >= 4 && (size_t)n <= size));
        if (n <= 0)
            break;
        check_frame(data, (size_t)n);
        data += n;
        size -= (size_t)n;
    }
    return 0;
}
