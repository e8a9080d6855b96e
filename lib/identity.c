#include "lib/identity.h"
#include "lib/alloc.h"
#include "lib/core/name.h"
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The bytes of the character of UTF-8 at AT; 1 when none begins there. */
static size_t n_bytes(const char *at)
{
    unsigned char lead = (unsigned char)*at;
    size_t n = lead < 0xc0 || lead >= 0xf8 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 1;
    return n;
}

/* Not more than LENGTH bytes of TEXT, without a part of a character: JSON would not take it. */
static size_t whole(const char *text, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++)
        if (n_bytes(text + length - back) > back)
            return length - back;
    return length;
}

static void copy(char *to, size_t size, const char *from)
{
    size_t length = whole(from, strnlen(from, size - 1));
    memcpy(to, from, length);
    to[length] = '\0';
}

int64_t pdk__identity_thread(void) { return (int64_t)syscall(SYS_gettid); } /* glibc has gettid() from 2.30 on */

void pdk__identity_own(struct pdk__identity *identity, const char *label)
{
    memset(identity, 0, sizeof *identity);
    if (gethostname(identity->host, sizeof identity->host - 1) != 0)
        identity->host[0] = '\0';
    copy(identity->label, sizeof identity->label, label);
    identity->pid = getpid();
    identity->thread = pdk__identity_thread();
}

/* FNV-1a. */
static uint64_t hash(uint64_t state, const char *text)
{
    for (; *text != '\0'; text++)
        state = (state ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return state;
}

static bool read_line(const char *file, char *line, size_t size)
{
    FILE *in = fopen(file, "re");
    bool read = in != NULL && fgets(line, (int)size, in) != NULL;
    if (in != NULL)
        fclose(in);
    return read;
}

void pdk__identity_machine(char machine[PDK__MACHINE_MAX])
{
    char start[64], space[64] = "";
    machine[0] = '\0';
    if (!read_line("/proc/sys/kernel/random/boot_id", start, sizeof start) ||
        readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0)
        return;
    uint64_t digest = hash(hash(UINT64_C(0xcbf29ce484222325), start), space);
    snprintf(machine, PDK__MACHINE_MAX, "%016llx", (unsigned long long)digest);
}

/* The environment may hold anything, and servers are sent a name only. */
void pdk__identity_under(char under[PDK__UNDER_MAX])
{
    const char *node = getenv("PADDOCK_NODE");
    bool name = node != NULL && strlen(node) < PDK__UNDER_MAX && pdk__name_parse(node).kind == PDK__NAME_OURS;
    copy(under, PDK__UNDER_MAX, name ? node : "");
}

/* A machine that was copied while it ran shares its digest with the copy, but not its name. */
bool pdk__identity_dead(const struct pdk__identity *identity)
{
    char machine[PDK__MACHINE_MAX], host[PDK__HOST_MAX] = "";
    if (identity->pid <= 0 || identity->pid > INT32_MAX || identity->machine[0] == '\0')
        return false;
    pdk__identity_machine(machine);
    if (gethostname(host, sizeof host - 1) != 0 || strcmp(host, identity->host) != 0 ||
        strcmp(machine, identity->machine) != 0)
        return false;
    return kill((pid_t)identity->pid, 0) != 0 && errno == ESRCH;
}

/* A label that is not UTF-8 must not make the lock fail: its ASCII part is kept. */
json_t *pdk__identity_text(const char *value)
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
    json_t *json = json_pack("{s:o, s:I, s:I, s:o}", "host", pdk__identity_text(identity->host), "pid",
                             (json_int_t)identity->pid, "thread", (json_int_t)identity->thread, "label",
                             pdk__identity_text(identity->label));
    if (identity->confirmed)
        json_object_set_new(json, "confirmed", json_true());
    if (identity->lock_delay_ms > 0)
        json_object_set_new(json, "lock_delay_ms", json_integer((json_int_t)identity->lock_delay_ms));
    if (identity->limit > 0)
        json_object_set_new(json, "limit", json_integer((json_int_t)identity->limit));
    if (identity->machine[0] != '\0')
        json_object_set_new(json, "machine", pdk__identity_text(identity->machine));
    if (identity->under[0] != '\0')
        json_object_set_new(json, "under", pdk__identity_text(identity->under));
    char *dump = json_dumps(json, JSON_COMPACT);
    char *data = dump != NULL ? pdk__strdup(dump) : NULL;
    free(dump);
    json_decref(json);
    return data;
}

static void read_text(const json_t *json, const char *key, char *to, size_t size)
{
    const char *value = json_string_value(json_object_get(json, key));
    copy(to, size, value != NULL ? value : "");
}

static void read_object(struct pdk__identity *identity, json_t *json)
{
    read_text(json, "host", identity->host, sizeof identity->host);
    read_text(json, "label", identity->label, sizeof identity->label);
    read_text(json, "machine", identity->machine, sizeof identity->machine);
    read_text(json, "under", identity->under, sizeof identity->under);
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
