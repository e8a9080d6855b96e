#include "lib/identity.h"
#include "lib/alloc.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void copy(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

void pdk__identity_own(struct pdk__identity *identity, const char *label)
{
    memset(identity, 0, sizeof *identity);
    if (gethostname(identity->host, sizeof identity->host - 1) != 0)
        identity->host[0] = '\0';
    copy(identity->label, sizeof identity->label, label);
    identity->pid = getpid();
    identity->thread = (int64_t)syscall(SYS_gettid); /* glibc has gettid() from 2.30 on */
}

/* A label that is not UTF-8 must not make the lock fail: its ASCII part is kept. */
static json_t *text(const char *value)
{
    json_t *json = json_string(value);
    if (json != NULL)
        return json;
    char plain[PDK__HOST_MAX];
    copy(plain, sizeof plain, value);
    for (char *c = plain; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(plain);
}

char *pdk__identity_format(const struct pdk__identity *identity)
{
    json_t *json = json_pack("{s:o, s:I, s:I, s:o}", "host", text(identity->host), "pid", (json_int_t)identity->pid,
                             "thread", (json_int_t)identity->thread, "label", text(identity->label));
    if (identity->confirmed)
        json_object_set_new(json, "confirmed", json_true());
    if (identity->lock_delay_ms > 0)
        json_object_set_new(json, "lock_delay_ms", json_integer((json_int_t)identity->lock_delay_ms));
    if (identity->limit > 0)
        json_object_set_new(json, "limit", json_integer((json_int_t)identity->limit));
    char *dump = json_dumps(json, JSON_COMPACT);
    char *data = dump != NULL ? pdk__strdup(dump) : NULL;
    free(dump);
    json_decref(json);
    return data;
}

static void read_object(struct pdk__identity *identity, json_t *json)
{
    const char *host = json_string_value(json_object_get(json, "host"));
    const char *label = json_string_value(json_object_get(json, "label"));
    copy(identity->host, sizeof identity->host, host != NULL ? host : "");
    copy(identity->label, sizeof identity->label, label != NULL ? label : "");
    identity->pid = json_integer_value(json_object_get(json, "pid"));
    identity->thread = json_integer_value(json_object_get(json, "thread"));
    identity->confirmed = json_is_true(json_object_get(json, "confirmed"));
    identity->lock_delay_ms = json_integer_value(json_object_get(json, "lock_delay_ms"));
    identity->limit = json_integer_value(json_object_get(json, "limit"));
}

/* An address or a host name, and nothing else. */
static void read_plain(struct pdk__identity *identity, const char *data, size_t size)
{
    if (size >= sizeof identity->host)
        return;
    for (size_t i = 0; i < size; i++)
        if (strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:-_%", data[i]) == NULL || !data[i])
            return;
    memcpy(identity->host, data, size);
}

void pdk__identity_parse(struct pdk__identity *identity, const char *data, size_t size)
{
    memset(identity, 0, sizeof *identity);
    json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json))
        read_object(identity, json);
    else
        read_plain(identity, data, size);
    json_decref(json);
}
