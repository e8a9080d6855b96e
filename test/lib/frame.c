#include "test/lib/frame.h"

#include <string.h>

enum { LONGEST = 64 << 20, REQUEST_HEAD = 4 + 8, REPLY_HEAD = 4 + 16, MULTI_HEAD = 9 };

int32_t pdk__get32(const unsigned char *p)
{
    return (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

int64_t pdk__get64(const unsigned char *p)
{
    return (int64_t)((uint64_t)(uint32_t)pdk__get32(p) << 32 | (uint32_t)pdk__get32(p + 4));
}

void pdk__put32(unsigned char *p, int32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)((uint32_t)value >> (24 - 8 * i));
}

void pdk__put64(unsigned char *p, int64_t value)
{
    pdk__put32(p, (int32_t)((uint64_t)value >> 32));
    pdk__put32(p + 4, (int32_t)(uint32_t)value);
}

long pdk__frame_size(const void *data, size_t n)
{
    if (n < 4)
        return 0;
    int32_t body = pdk__get32(data);
    if (body < 0 || body > LONGEST)
        return -1;
    return n - 4 < (size_t)body ? 0 : 4L + body;
}

/* The string at OFFSET, if it lies within the frame. */
static void take_path(const unsigned char *frame, size_t size, size_t offset, const char **path, size_t *path_size)
{
    *path = NULL;
    *path_size = 0;
    if (size < offset + 4)
        return;
    int32_t n = pdk__get32(frame + offset);
    if (n < 0 || (size_t)n > size - offset - 4)
        return;
    *path = (const char *)frame + offset + 4;
    *path_size = (size_t)n;
}

static bool has_path(int32_t type)
{
    switch (type) {
    case PDK__OP_CREATE:
    case PDK__OP_DELETE:
    case PDK__OP_EXISTS:
    case PDK__OP_GET:
    case PDK__OP_SET:
    case PDK__OP_GET_ACL:
    case PDK__OP_SET_ACL:
    case PDK__OP_LIST:
    case PDK__OP_SYNC:
    case PDK__OP_LIST2:
    case PDK__OP_CHECK:
    case PDK__OP_CREATE2:
    case PDK__OP_CHECK_WATCHES:
    case PDK__OP_REMOVE_WATCHES:
    case PDK__OP_CREATE_CONTAINER:
    case PDK__OP_CREATE_TTL:
        return true;
    default:
        return false;
    }
}

/* A delete that no node can fit: by a name without its number, or by a version that no node has. */
static bool is_proof(const unsigned char *frame, size_t size, const struct pdk__request *r)
{
    if (r->type != PDK__OP_DELETE || r->path_size == 0)
        return false;
    size_t end = (size_t)((const unsigned char *)r->path - frame) + r->path_size;
    char last = r->path[r->path_size - 1];
    return last == '-' || last == '_' || (end + 4 <= size && pdk__get32(frame + end) == INT32_MIN);
}

bool pdk__frame_request(const void *frame, size_t size, struct pdk__request *r)
{
    const unsigned char *p = frame;
    if (size < REQUEST_HEAD)
        return false;
    *r = (struct pdk__request){.xid = pdk__get32(p + 4), .type = pdk__get32(p + 8)};
    if (has_path(r->type))
        take_path(p, size, REQUEST_HEAD, &r->path, &r->path_size);
    else if (r->type == PDK__OP_MULTI)
        take_path(p, size, REQUEST_HEAD + MULTI_HEAD, &r->path, &r->path_size);
    if (is_proof(p, size, r))
        r->type = PDK__OP_PROOF;
    return true;
}

/* A notification's body: what happened, the session's state, the path. */
bool pdk__frame_reply(const void *frame, size_t size, struct pdk__reply *r)
{
    const unsigned char *p = frame;
    if (size < REPLY_HEAD)
        return false;
    *r = (struct pdk__reply){.xid = pdk__get32(p + 4), .zxid = pdk__get64(p + 8), .error = pdk__get32(p + 16)};
    if (r->xid != PDK__XID_EVENT || size < REPLY_HEAD + 8)
        return true;
    r->event = pdk__get32(p + REPLY_HEAD);
    take_path(p, size, REPLY_HEAD + 8, &r->path, &r->path_size);
    return true;
}

static bool contains(const char *data, size_t size, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(data + i, text, n) == 0)
            return true;
    return false;
}

bool pdk__frame_mentions(const void *frame, size_t size, const struct pdk__request *r, const char *text)
{
    if (text == NULL)
        return true;
    if (r->type == PDK__OP_MULTI)
        return contains((const char *)frame + REQUEST_HEAD, size - REQUEST_HEAD, text);
    return r->path != NULL && contains(r->path, r->path_size, text);
}

const char *pdk__op_name(int type)
{
    static const struct {
        int type;
        const char *name;
    } names[] = {{PDK__OP_CREATE, "create"},
                 {PDK__OP_DELETE, "delete"},
                 {PDK__OP_EXISTS, "exists"},
                 {PDK__OP_GET, "get"},
                 {PDK__OP_SET, "set"},
                 {PDK__OP_GET_ACL, "get-acl"},
                 {PDK__OP_SET_ACL, "set-acl"},
                 {PDK__OP_LIST, "list"},
                 {PDK__OP_SYNC, "sync"},
                 {PDK__OP_PING, "ping"},
                 {PDK__OP_LIST2, "list2"},
                 {PDK__OP_CHECK, "check"},
                 {PDK__OP_MULTI, "multi"},
                 {PDK__OP_CREATE2, "create2"},
                 {PDK__OP_CHECK_WATCHES, "check-watches"},
                 {PDK__OP_REMOVE_WATCHES, "remove-watches"},
                 {PDK__OP_CREATE_CONTAINER, "create-container"},
                 {PDK__OP_CREATE_TTL, "create-ttl"},
                 {PDK__OP_AUTH, "auth"},
                 {PDK__OP_SET_WATCHES, "set-watches"},
                 {PDK__OP_CONNECT, "connect"},
                 {PDK__OP_CLOSE, "close"},
                 {PDK__OP_PROOF, "proof"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == type)
            return names[i].name;
    return "op";
}
