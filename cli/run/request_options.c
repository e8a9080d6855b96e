#include "cli/run/request_options.h"

#include "cli/number.h"

#include <paddock/semaphore.h>
#include <string.h>

/* NULL: it is absent. */
static const json_t *member(const json_t *request, const char *name)
{
    const json_t *value = json_object_get(request, name);
    return json_is_null(value) ? NULL : value;
}

/* Put the string NAME, if it is there, into *TO. */
static bool take_string(const json_t *request, const char *name, const char **to)
{
    const json_t *value = member(request, name);
    if (value != NULL)
        *to = json_string_value(value);
    return value == NULL || *to != NULL;
}

static bool take_permits(const json_t *request, const char *name, int *to)
{
    const json_t *value = member(request, name);
    json_int_t number = json_integer_value(value);
    if (value == NULL)
        return true;
    *to = number >= 1 && number <= PDK_SEMAPHORE_MAX ? (int)number : 0;
    return *to > 0;
}

static const char *take_paths(struct pdk__cli_options *o, const json_t *request)
{
    const json_t *paths = member(request, "paths");
    size_t n = json_array_size(paths);
    o->path = NULL;
    if (!take_string(request, "path", &o->path))
        return "path is a string";
    if ((o->path == NULL) == (paths == NULL))
        return "a lock has a path, or paths";
    if (paths == NULL)
        return NULL;
    if (n < 1 || n > PDK_MUTEX_PATHS_MAX)
        return "paths is a list of 1 to 64 strings";
    for (size_t i = 0; i < n; i++)
        if (!json_is_string(json_array_get(paths, i)))
            return "paths is a list of 1 to 64 strings";
    o->path = json_string_value(json_array_get(paths, 0));
    o->n_also = (unsigned)n - 1;
    for (size_t i = 1; i < n; i++)
        o->also[i - 1] = json_string_value(json_array_get(paths, i));
    return NULL;
}

static const char *take_mode(struct pdk__cli_options *o, const json_t *request)
{
    const char *mode = NULL;
    if (!take_string(request, "mode", &mode) ||
        (mode != NULL && strcmp(mode, "shared") != 0 && strcmp(mode, "exclusive") != 0))
        return "mode is shared or exclusive";
    if (!take_permits(request, "limit", &o->limit) || !take_permits(request, "permits", &o->count))
        return "limit and permits are numbers from 1 to 1000";
    if (o->count > o->limit)
        return "permits are at most as many as limit";
    if ((mode != NULL) + (o->limit > 0) + (o->n_also > 0) > 1)
        return "mode, limit and several paths do not go together";
    if (mode != NULL)
        o->mode = strcmp(mode, "shared") == 0 ? MODE_SHARED : MODE_EXCLUSIVE;
    if (o->limit > 0)
        o->mode = MODE_PERMITS;
    if (o->n_also > 0)
        o->mode = MODE_SEVERAL;
    if (o->mode == MODE_PERMITS && o->count == 0)
        o->count = 1;
    return NULL;
}

static const char *take_wait(struct pdk__cli_options *o, const json_t *request)
{
    const json_t *wait = member(request, "wait");
    if (wait == NULL || (json_is_number(wait) && pdk__cli_number_ms(json_number_value(wait), &o->wait_ms)))
        return NULL;
    return "wait is a number of seconds";
}

const char *pdk__cli_request_options(struct pdk__cli_options *o, const json_t *request)
{
    o->n_also = 0;
    o->mode = MODE_MUTEX;
    o->count = o->limit = 0;
    o->limit_from = NULL;
    o->wait_ms = PDK_FOREVER;
    const char *wrong = take_paths(o, request);
    if (wrong == NULL)
        wrong = take_mode(o, request);
    if (wrong == NULL)
        wrong = take_wait(o, request);
    if (wrong == NULL && !take_string(request, "data", &o->data))
        wrong = "data is a string";
    return wrong;
}
