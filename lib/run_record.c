#include "lib/run_record.h"
#include "lib/alloc.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1 };

/* --- reading ----------------------------------------------------------------------------------------------------- */

static bool read_text(const json_t *json, const char *name, char *to, size_t size)
{
    const json_t *member = json_object_get(json, name);
    const char *text = json_string_value(member);
    if (member == NULL)
        return true;
    if (text == NULL || strlen(text) >= size)
        return false;
    strcpy(to, text);
    return true;
}

static bool read_number(const json_t *json, const char *name, int64_t most, int64_t *to)
{
    const json_t *member = json_object_get(json, name);
    if (member == NULL)
        return true;
    *to = json_integer_value(member);
    return json_is_integer(member) && *to >= 0 && *to <= most;
}

/* No run is none. */
static bool read_run(const json_t *json, struct pdk__run *run, int64_t mtime_ms)
{
    int64_t status = -1;
    if (json == NULL)
        return true;
    bool good = json_is_object(json) && read_text(json, "key", run->key, sizeof run->key) &&
                read_text(json, "host", run->host, sizeof run->host) &&
                read_text(json, "label", run->label, sizeof run->label) &&
                read_number(json, "period_ms", INT64_MAX, &run->period_ms) &&
                read_number(json, "pid", INT64_MAX, &run->pid) && read_number(json, "token", INT64_MAX, &run->token) &&
                read_number(json, "begun_ms", INT64_MAX, &run->begun_ms) &&
                read_number(json, "ended_ms", INT64_MAX, &run->ended_ms) && read_number(json, "status", 255, &status);
    if (!good || run->token == 0 || pdk__run_has_control(run->key))
        return false;
    run->status = (int)status;
    if (run->begun_ms == 0)
        run->begun_ms = mtime_ms;
    if (run->status >= 0 && run->ended_ms == 0)
        run->ended_ms = mtime_ms;
    return true;
}

static bool read_keys(const json_t *json, struct pdk__runs *runs)
{
    size_t n = json_array_size(json);
    if (json != NULL && !json_is_array(json))
        return false;
    for (size_t i = 0; i < n && i < PDK__RUN_KEYS; i++) {
        const char *key = json_string_value(json_array_get(json, i));
        if (key == NULL || !pdk__run_key_valid(key))
            return false;
        strcpy(runs->keys[runs->n_keys++], key);
    }
    return true;
}

static const char *read_record(struct pdk__runs *runs, const json_t *json, int64_t mtime_ms)
{
    const json_t *version = json_object_get(json, "paddock");
    if (!json_is_integer(version))
        return "it is no record of runs";
    if (json_integer_value(version) != VERSION)
        return "it is of another version";
    bool good = read_run(json_object_get(json, "last"), &runs->last, mtime_ms) &&
                read_run(json_object_get(json, "done"), &runs->done, mtime_ms) &&
                read_keys(json_object_get(json, "keys"), runs);
    return good ? NULL : "it is garbled";
}

const char *pdk__runs_parse(struct pdk__runs *runs, const char *data, size_t size, int64_t mtime_ms)
{
    pdk__runs_init(runs);
    if (size == 0)
        return NULL;
    if (size > PDK__RUNS_BYTES_MAX)
        return "it is too large";
    json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
    const char *why = read_record(runs, json, mtime_ms);
    json_decref(json);
    if (why != NULL)
        pdk__runs_init(runs);
    return why;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void put(json_t *json, const char *name, int64_t number)
{
    if (number > 0)
        json_object_set_new(json, name, json_integer((json_int_t)number));
}

static json_t *run_json(const struct pdk__run *run)
{
    json_t *json = json_object();
    if (run->key[0] != '\0')
        json_object_set_new(json, "key", json_string(run->key));
    put(json, "period_ms", run->period_ms);
    json_object_set_new(json, "host", pdk__identity_text(run->host));
    put(json, "pid", run->pid);
    json_object_set_new(json, "label", pdk__identity_text(run->label));
    put(json, "token", run->token);
    put(json, "begun_ms", run->begun_ms);
    put(json, "ended_ms", run->ended_ms);
    if (run->status >= 0)
        json_object_set_new(json, "status", json_integer(run->status));
    return json;
}

static json_t *keys_json(const struct pdk__runs *runs)
{
    json_t *json = json_array();
    for (unsigned i = 0; i < runs->n_keys; i++)
        json_array_append_new(json, json_string(runs->keys[i]));
    return json;
}

char *pdk__runs_format(const struct pdk__runs *runs)
{
    json_t *json = json_object();
    json_object_set_new(json, "paddock", json_integer(VERSION));
    if (runs->last.token > 0)
        json_object_set_new(json, "last", run_json(&runs->last));
    if (runs->done.token > 0)
        json_object_set_new(json, "done", run_json(&runs->done));
    if (runs->n_keys > 0)
        json_object_set_new(json, "keys", keys_json(runs));
    char *dump = json_dumps(json, JSON_COMPACT);
    char *data = dump != NULL ? pdk__strdup(dump) : NULL;
    free(dump);
    json_decref(json);
    return data;
}
