/*
 * A parser of ZooKeeper's frames that trusts no byte: no I/O, no memory, no state.
 *
 * A frame is a length of four bytes and as many bytes. A request begins with xid and type, a reply with xid, zxid and
 * error; all numbers are big-endian. The first frame of each direction is the handshake and has neither.
 */
#ifndef PDK__TEST_FRAME_H
#define PDK__TEST_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of requests, as in ZooKeeper's ZooDefs.OpCode. */
enum pdk__op {
    PDK__OP_CREATE = 1,
    PDK__OP_DELETE = 2,
    PDK__OP_EXISTS = 3,
    PDK__OP_GET = 4,
    PDK__OP_SET = 5,
    PDK__OP_GET_ACL = 6,
    PDK__OP_SET_ACL = 7,
    PDK__OP_LIST = 8,
    PDK__OP_SYNC = 9,
    PDK__OP_PING = 11,
    PDK__OP_LIST2 = 12,
    PDK__OP_CHECK = 13,
    PDK__OP_MULTI = 14,
    PDK__OP_CREATE2 = 15,
    PDK__OP_CHECK_WATCHES = 17,
    PDK__OP_REMOVE_WATCHES = 18,
    PDK__OP_CREATE_CONTAINER = 19,
    PDK__OP_CREATE_TTL = 21,
    PDK__OP_AUTH = 100,
    PDK__OP_SET_WATCHES = 101,
    PDK__OP_CONNECT = -10, /* the handshake, by the name the servers give it among themselves */
    PDK__OP_CLOSE = -11,
    /* Of this harness: a delete that can change nothing, so it counts as no delete. Paddock's proof that its session
     * lives names a node that cannot exist, a contender's without a number; when it comes is up to the clock. The write
     * before a look names a version that no node has. */
    PDK__OP_PROOF = 120
};

enum { PDK__XID_EVENT = -1, PDK__XID_PING = -2, PDK__XID_AUTH = -4, PDK__XID_SET_WATCHES = -8 };

struct pdk__request {
    int32_t xid, type;
    const char *path; /* into the frame, not terminated; NULL when the type has none. Of a multi: of its first part */
    size_t path_size;
};

struct pdk__reply {
    int32_t xid, error;
    int64_t zxid;
    int32_t event;    /* of a notification: 1 created, 2 deleted, 3 changed, 4 children; else 0 */
    const char *path; /* of a notification; as above */
    size_t path_size;
};

/* The size of the frame that begins at DATA, its length field included; 0: the frame is not complete yet; -1: no frame
 * can have this length. */
long pdk__frame_size(const void *data, size_t n);

/* Take apart a whole frame of SIZE bytes. False when it is too short to be one. */
bool pdk__frame_request(const void *frame, size_t size, struct pdk__request *r);
bool pdk__frame_reply(const void *frame, size_t size, struct pdk__reply *r);

/* Does TEXT occur in the path; or, in a multi, anywhere in the frame? NULL occurs everywhere. */
bool pdk__frame_mentions(const void *frame, size_t size, const struct pdk__request *r, const char *text);

/* "create2"; "op" for one that has no name here. */
const char *pdk__op_name(int type);

/* Numbers as the protocol has them. */
int32_t pdk__get32(const unsigned char *p);
int64_t pdk__get64(const unsigned char *p);
void pdk__put32(unsigned char *p, int32_t value);
void pdk__put64(unsigned char *p, int64_t value);

#endif
