#include "test/lib/frame.h"

#include "test/lib/check.h"
#include <stdlib.h>
#include <string.h>

/* Writes the frame's length last, when it is known. */
struct writer {
    unsigned char data[256];
    size_t n;
};

static void put(struct writer *w, int32_t value)
{
    pdk__put32(w->data + w->n, value);
    w->n += 4;
}

static void put_text(struct writer *w, const char *text)
{
    put(w, (int32_t)strlen(text));
    memcpy(w->data + w->n, text, strlen(text));
    w->n += strlen(text);
}

static struct writer begin(int32_t xid, int32_t second)
{
    struct writer w = {.n = 4};
    put(&w, xid);
    put(&w, second);
    return w;
}

static const unsigned char *end(struct writer *w)
{
    pdk__put32(w->data, (int32_t)w->n - 4);
    return w->data;
}

static void knows_path(void)
{
    struct writer w = begin(7, PDK__OP_CREATE2);
    struct pdk__request r;
    put_text(&w, "/locks/a");
    CHECK(pdk__frame_request(end(&w), w.n, &r));
    CHECK_EQ(r.xid, 7);
    CHECK_EQ(r.type, PDK__OP_CREATE2);
    CHECK_EQ(r.path_size, strlen("/locks/a"));
    CHECK(memcmp(r.path, "/locks/a", r.path_size) == 0);
    CHECK(pdk__frame_mentions(w.data, w.n, &r, "ks/a"));
    CHECK(!pdk__frame_mentions(w.data, w.n, &r, "/locks/b"));
    CHECK(!pdk__frame_mentions(w.data, w.n, &r, "/locks/a/longer than the frame"));
    CHECK(pdk__frame_mentions(w.data, w.n, &r, NULL));
}

/* A proof is told from the delete of a node by the number that it lacks, or by a version that no node has. */
static void knows_proof(void)
{
    static const struct {
        const char *path;
        int32_t version, type;
    } cases[] = {{"/l/_c_1-lock-", -1, PDK__OP_PROOF},
                 {"/l/_c_1__WRIT__", -1, PDK__OP_PROOF},
                 {"/l/_c_1-lock-0000000001", -1, PDK__OP_DELETE},
                 {"/l/ready", INT32_MIN, PDK__OP_PROOF},
                 {"/l/ready", -1, PDK__OP_DELETE},
                 {"", INT32_MIN, PDK__OP_DELETE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writer w = begin(9, PDK__OP_DELETE);
        struct pdk__request r;
        put_text(&w, cases[i].path);
        put(&w, cases[i].version);
        CHECK(pdk__frame_request(end(&w), w.n, &r));
        CHECK_EQ(r.type, cases[i].type);
    }
}

static void multi_mentions_all_parts(void)
{
    struct writer w = begin(8, PDK__OP_MULTI);
    struct pdk__request r;
    const char *const paths[] = {"/first", "/second"};
    for (int i = 0; i < 2; i++) {
        put(&w, PDK__OP_DELETE);
        w.data[w.n++] = 0;
        put(&w, -1);
        put_text(&w, paths[i]);
        put(&w, -1);
    }
    CHECK(pdk__frame_request(end(&w), w.n, &r));
    CHECK_EQ(r.path_size, strlen("/first"));
    CHECK(pdk__frame_mentions(w.data, w.n, &r, "/second"));
    CHECK(!pdk__frame_mentions(w.data, w.n, &r, "/third"));
}

static void notification(void)
{
    struct writer w = begin(PDK__XID_EVENT, -1);
    struct pdk__reply r;
    put(&w, -1);
    put(&w, 0);
    put(&w, 2);
    put(&w, 3);
    put_text(&w, "/locks/a");
    CHECK(pdk__frame_reply(end(&w), w.n, &r));
    CHECK_EQ(r.xid, PDK__XID_EVENT);
    CHECK_EQ(r.zxid, -1);
    CHECK_EQ(r.event, 2);
    CHECK_EQ(r.path_size, strlen("/locks/a"));
}

static void error_and_zxid(void)
{
    struct writer w = begin(9, 0x12);
    struct pdk__reply r;
    put(&w, 0x34);
    put(&w, -101);
    CHECK(pdk__frame_reply(end(&w), w.n, &r));
    CHECK_EQ(r.zxid, INT64_C(0x1200000034));
    CHECK_EQ(r.error, -101);
    CHECK_EQ(r.event, 0);
}

static void incomplete(void)
{
    struct writer w = begin(7, PDK__OP_GET);
    put_text(&w, "/a");
    end(&w);
    for (size_t n = 0; n < w.n; n++)
        CHECK_EQ(pdk__frame_size(w.data, n), 0);
    CHECK_EQ(pdk__frame_size(w.data, w.n), w.n);
    CHECK_EQ(pdk__frame_size(w.data, w.n + 20), w.n);
}

static void impossible_lengths(void)
{
    unsigned char data[8] = {0};
    pdk__put32(data, -1);
    CHECK_EQ(pdk__frame_size(data, sizeof data), -1);
    pdk__put32(data, INT32_MIN);
    CHECK_EQ(pdk__frame_size(data, sizeof data), -1);
    CHECK_EQ(pdk__frame_size("srvr", 4), -1);
}

static void short_frames(void)
{
    struct pdk__request q;
    struct pdk__reply r;
    unsigned char data[20] = {0};
    for (size_t n = 0; n < sizeof data; n++) {
        CHECK_EQ(pdk__frame_request(data, n, &q), n >= 12);
        CHECK_EQ(pdk__frame_reply(data, n, &r), false);
    }
}

/* Every type, every length of path that can be written, in a block of exactly the frame's size: a sanitizer or valgrind
 * sees one byte too many. */
static void hostile_path_lengths(void)
{
    static const int32_t lengths[] = {-1, 0, 1, 8, 9, 10, 1000, INT32_MAX, INT32_MIN};
    for (int type = -11; type < 120; type++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (size_t n = 4; n <= 40; n++) {
                unsigned char *frame = malloc(n);
                struct pdk__request q;
                struct pdk__reply r;
                CHECK(frame != NULL);
                memset(frame, 0, n);
                for (size_t at = 12; at + 4 <= n; at++)
                    pdk__put32(frame + at, lengths[i]);
                if (n >= 12) {
                    pdk__put32(frame + 4, PDK__XID_EVENT);
                    pdk__put32(frame + 8, type);
                }
                if (pdk__frame_request(frame, n, &q)) {
                    pdk__frame_mentions(frame, n, &q, "/a");
                    CHECK(q.path == NULL || q.path + q.path_size <= (char *)frame + n);
                }
                if (pdk__frame_reply(frame, n, &r))
                    CHECK(r.path == NULL || r.path + r.path_size <= (char *)frame + n);
                free(frame);
            }
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a request gives its xid, type and path", knows_path},
        {"a delete of a node that cannot exist is a proof", knows_proof},
        {"a multi mentions the paths of all its parts", multi_mentions_all_parts},
        {"a notification gives its event and path", notification},
        {"a reply gives its zxid and error", error_and_zxid},
        {"a frame is not taken before all of it is there", incomplete},
        {"a length that cannot be is refused", impossible_lengths},
        {"a frame too short for its header is refused", short_frames},
        {"no length inside a frame leads out of it", hostile_path_lengths},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "frame", .tests = tests});
}
