#include "test/lib/sequence.h"
#include "test/lib/check.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_HEADER = 16, TXN_HEADER = 32, TYPE_AT = 28, FRAME = 12 };

struct log {
    unsigned char *data;
    size_t size;
};

static uint32_t get(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put(unsigned char *at, uint32_t value)
{
    for (int i = 3; i >= 0; i--, value >>= 8)
        at[i] = (unsigned char)value;
}

static void load(struct log *log, const char *file)
{
    FILE *in = fopen(file, "rbe");
    CHECK(in != NULL);
    CHECK_EQ(fseek(in, 0, SEEK_END), 0);
    log->size = (size_t)ftell(in);
    log->data = malloc(log->size);
    rewind(in);
    CHECK(log->data != NULL && fread(log->data, 1, log->size, in) == log->size);
    fclose(in);
}

static void store(const struct log *log, const char *file)
{
    FILE *out = fopen(file, "wbe");
    CHECK(out != NULL && fwrite(log->data, 1, log->size, out) == log->size);
    CHECK_EQ(fclose(out), 0);
}

/* Adler-32, as in RFC 1950. */
static uint32_t checksum(const unsigned char *data, size_t size)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* Behind a string or a buffer; a length of -1 is none. */
static unsigned char *after(unsigned char *at)
{
    uint32_t n = get(at);
    return at + 4 + (n != UINT32_MAX ? n : 0);
}

/* The counter in TXN if it creates a child of PATH, else NULL. */
static unsigned char *counter_of(unsigned char *txn, const char *path)
{
    uint32_t type = get(txn + TYPE_AT);
    unsigned char *at = txn + TXN_HEADER;
    size_t length = strlen(path);
    if ((type != 1 && type != 15) || get(at) <= length || memcmp(at + 4, path, length) != 0 || at[4 + length] != '/')
        return NULL;
    at = after(after(at));
    uint32_t n_acl = get(at);
    at += 4;
    for (uint32_t i = 0; i < n_acl; i++)
        at = after(after(at + 4));
    return at + 1;
}

/* The version of the data of PATH in TXN if it changes them, else NULL. */
static unsigned char *version_of(unsigned char *txn, const char *path)
{
    unsigned char *at = txn + TXN_HEADER;
    size_t length = strlen(path);
    bool sets = get(txn + TYPE_AT) == 5 && get(at) == length && memcmp(at + 4, path, length) == 0;
    return sets ? after(after(at)) : NULL;
}

/* Change the last transaction that has a FIELD of PATH. Returns whether there is one. */
static bool change(struct log *log, unsigned char *(*field)(unsigned char *, const char *), const char *path,
                   uint32_t value)
{
    unsigned char *last = NULL, *end = log->data + log->size;
    for (unsigned char *frame = log->data + FILE_HEADER; frame + FRAME < end && get(frame + 8) != 0;
         frame += FRAME + get(frame + 8) + 1)
        if (field(frame + FRAME, path) != NULL)
            last = frame;
    if (last == NULL)
        return false;
    put(field(last + FRAME, path), value);
    put(last, 0);
    put(last + 4, checksum(last + FRAME, get(last + 8)));
    return true;
}

static bool change_file(const char *file, const char *path, uint32_t value)
{
    struct log log;
    load(&log, file);
    bool changed = change(&log, counter_of, path, value);
    change(&log, version_of, path, value);
    if (changed)
        store(&log, file);
    free(log.data);
    return changed;
}

/* The server keeps its logs in version-2, somewhere below its directory. */
static int change_below(const char *directory, const char *path, uint32_t value)
{
    char name[1024];
    int n = 0;
    DIR *dir = opendir(directory);
    struct dirent *e;
    while (dir != NULL && (e = readdir(dir)) != NULL) {
        snprintf(name, sizeof name, "%s/%s", directory, e->d_name);
        if (e->d_type == DT_DIR && e->d_name[0] != '.')
            n += change_below(name, path, value);
        else if (strncmp(e->d_name, "log.", 4) == 0)
            n += change_file(name, path, value);
    }
    if (dir != NULL)
        closedir(dir);
    return n;
}

void sequence_set(const pdk__server *server, const char *path, int32_t created)
{
    CHECK_EQ(change_below(pdk__server_dir(server), path, (uint32_t)created), 1);
}
