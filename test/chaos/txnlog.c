#include "test/chaos/txnlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x5a4b4c47, HEADER_SIZE = 16, END_OF_TXN = 0x42 };

/* Takes bytes off the front; what is not there makes it bad, and reads as zero. */
struct reader {
    const unsigned char *at;
    size_t left;
    bool is_bad;
};

static const unsigned char *take(struct reader *r, size_t n)
{
    static const unsigned char zeros[8];
    if (n > r->left) {
        r->is_bad = true;
        r->left = 0;
        return zeros;
    }
    const unsigned char *at = r->at;
    r->at += n;
    r->left -= n;
    return at;
}

static int64_t number(struct reader *r, int size)
{
    const unsigned char *b = take(r, (size_t)size);
    uint64_t v = 0;
    for (int i = 0; i < size; i++)
        v = v << 8 | b[i];
    return size == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
}

static int32_t get_int(struct reader *r) { return (int32_t)number(r, 4); }
static int64_t get_long(struct reader *r) { return number(r, 8); }

/* A string or a buffer; a length of -1 is none. */
static const char *get_bytes(struct reader *r, size_t *size)
{
    int32_t n = get_int(r);
    *size = n > 0 ? (size_t)n : 0;
    if (*size > r->left) {
        r->is_bad = true;
        *size = 0;
    }
    return (const char *)take(r, *size);
}

static void skip_acl(struct reader *r)
{
    size_t size;
    int32_t n = get_int(r);
    for (int32_t i = 0; i < n && !r->is_bad; i++) {
        get_int(r);
        get_bytes(r, &size);
        get_bytes(r, &size);
    }
}

static void get_create(struct reader *r, struct txn *txn)
{
    txn->path = get_bytes(r, &txn->path_size);
    txn->data = get_bytes(r, &txn->data_size);
    skip_acl(r);
    if (txn->type == TXN_CREATE || txn->type == TXN_CREATE2)
        txn->is_ephemeral = *take(r, 1) != 0;
}

static void get_body(struct reader *r, struct txn *txn, txn_cb cb, void *arg);

/* A multi that failed is logged with the parts before the one that failed as if they had been done. */
static bool has_failed(struct reader r)
{
    size_t size;
    int32_t n = get_int(&r);
    for (int32_t i = 0; i < n && !r.is_bad; i++) {
        if (get_int(&r) == TXN_ERROR)
            return true;
        get_bytes(&r, &size);
    }
    return false;
}

static void get_parts(struct reader *r, const struct txn *whole, txn_cb cb, void *arg)
{
    if (has_failed(*r))
        return;
    int32_t n = get_int(r);
    for (int32_t i = 0; i < n && !r->is_bad; i++) {
        struct txn part = *whole;
        struct reader body = {0};
        part.type = get_int(r);
        body.at = (const unsigned char *)get_bytes(r, &body.left);
        if (part.type != TXN_MULTI)
            get_body(&body, &part, cb, arg);
        r->is_bad |= body.is_bad;
    }
}

static void get_body(struct reader *r, struct txn *txn, txn_cb cb, void *arg)
{
    switch (txn->type) {
    case TXN_CREATE:
    case TXN_CREATE2:
    case TXN_CREATE_CONTAINER:
    case TXN_CREATE_TTL:
        get_create(r, txn);
        break;
    case TXN_DELETE:
    case TXN_DELETE_CONTAINER:
        txn->path = get_bytes(r, &txn->path_size);
        break;
    case TXN_SET_DATA:
        txn->path = get_bytes(r, &txn->path_size);
        txn->data = get_bytes(r, &txn->data_size);
        break;
    case TXN_MULTI:
        get_parts(r, txn, cb, arg);
        return;
    }
    if (!r->is_bad)
        cb(txn, arg);
}

static bool get_txn(struct reader *r, txn_cb cb, void *arg)
{
    struct txn txn = {.session = get_long(r)};
    txn.cxid = get_int(r);
    txn.zxid = get_long(r);
    txn.time_ms = get_long(r);
    txn.type = get_int(r);
    get_body(r, &txn, cb, arg);
    return !r->is_bad;
}

/* A server that is killed may leave half a transaction at the end: no more than that is forgiven. */
long txnlog_parse(const void *data, size_t size, txn_cb cb, void *arg)
{
    struct reader r = {.at = data, .left = size};
    long n = 0;
    if (size < HEADER_SIZE || get_int(&r) != MAGIC)
        return -1;
    take(&r, HEADER_SIZE - 4);
    while (r.left > 12) {
        struct reader body = {0};
        get_long(&r);
        body.at = (const unsigned char *)get_bytes(&r, &body.left);
        if (r.is_bad || body.left == 0)
            break;
        if (r.left == 0 || *take(&r, 1) != END_OF_TXN)
            break;
        if (!get_txn(&body, cb, arg))
            return -1;
        n++;
    }
    return n;
}

long txnlog_read(const char *file, txn_cb cb, void *arg)
{
    FILE *f = fopen(file, "rbe");
    if (f == NULL)
        return -1;
    long n = -1, size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    char *data = size > 0 ? malloc((size_t)size) : NULL;
    rewind(f);
    if (data != NULL && fread(data, 1, (size_t)size, f) == (size_t)size)
        n = txnlog_parse(data, (size_t)size, cb, arg);
    free(data);
    fclose(f);
    return n;
}
