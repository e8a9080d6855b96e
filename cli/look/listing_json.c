#include "cli/json.h"
#include "cli/look/counter.h"
#include "cli/look/listing.h"
#include "cli/owner.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *hex(const char *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * size + 1);
    if (text == NULL)
        return json_null();
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[(unsigned char)data[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)data[i] & 15];
    }
    json_t *value = json_stringn(text, 2 * size);
    free(text);
    return value;
}

static void set_data(json_t *object, const pdk_contender_list *list, size_t i)
{
    size_t size, omitted = pdk_contender_number(list, i, PDK_CONTENDER_DATA_OMITTED);
    const char *data = pdk_contender_data(list, i, &size);
    if (omitted > 0) {
        json_object_set_new(object, "data_omitted", json_integer((json_int_t)omitted));
        return;
    }
    json_t *text = data != NULL ? json_stringn(data, size) : NULL;
    if (text != NULL)
        json_object_set_new(object, "data", text);
    else if (data != NULL)
        json_object_set_new(object, "data_hex", hex(data, size));
}

static void set_identity(json_t *object, const pdk_contender_list *list, size_t i)
{
    if (*pdk_contender_text(list, i, PDK_CONTENDER_HOST) == '\0')
        return;
    pdk__cli_json_text(object, "host", pdk_contender_text(list, i, PDK_CONTENDER_HOST));
    if (pdk_contender_number(list, i, PDK_CONTENDER_PID) == 0)
        return;
    json_object_set_new(object, "pid", json_integer(pdk_contender_number(list, i, PDK_CONTENDER_PID)));
    json_object_set_new(object, "thread", json_integer(pdk_contender_number(list, i, PDK_CONTENDER_THREAD)));
    pdk__cli_json_text(object, "label", pdk_contender_text(list, i, PDK_CONTENDER_LABEL));
    if (pdk_contender_number(list, i, PDK_CONTENDER_LIMIT) > 0)
        json_object_set_new(object, "limit", json_integer(pdk_contender_number(list, i, PDK_CONTENDER_LIMIT)));
    if (*pdk_contender_text(list, i, PDK_CONTENDER_UNDER) != '\0')
        pdk__cli_json_text(object, "under", pdk_contender_text(list, i, PDK_CONTENDER_UNDER));
    json_object_set_new(object, "confirmed", json_boolean(pdk_contender_number(list, i, PDK_CONTENDER_CONFIRMED)));
    json_object_set_new(object, "lock_delay_ms",
                        json_integer(pdk_contender_number(list, i, PDK_CONTENDER_LOCK_DELAY_MS)));
}

json_t *pdk__cli_listing_object(const pdk_contender_list *list, size_t i)
{
    char session[24];
    bool junk = pdk__cli_is_junk(list, i);
    json_t *object = json_object();
    snprintf(session, sizeof session, "%016llx",
             (unsigned long long)pdk_contender_number(list, i, PDK_CONTENDER_SESSION));
    json_object_set_new(object, "position", junk ? json_null() : json_integer((json_int_t)i + 1));
    pdk__cli_json_text(object, "state", pdk__cli_listing_state(list, i));
    if (*pdk__cli_listing_mode(list, i) != '\0')
        pdk__cli_json_text(object, "mode", pdk__cli_listing_mode(list, i));
    pdk__cli_json_text(object, "node", pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    pdk__cli_json_text(object, "dialect", pdk__cli_library(list, i));
    json_object_set_new(object, "sequence",
                        junk ? json_null() : json_integer(pdk_contender_number(list, i, PDK_CONTENDER_SEQUENCE)));
    pdk__cli_json_text(object, "session", session);
    json_object_set_new(object, "token", json_integer(pdk_contender_number(list, i, PDK_CONTENDER_TOKEN)));
    json_object_set_new(object, "since_ms", json_integer(pdk_contender_number(list, i, PDK_CONTENDER_SINCE_MS)));
    json_object_set_new(object, "age_ms", json_integer(pdk__cli_listing_age_ms(list, i)));
    json_object_set_new(object, "asked", json_boolean(pdk_contender_number(list, i, PDK_CONTENDER_REVOKED)));
    set_identity(object, list, i);
    set_data(object, list, i);
    return object;
}

json_t *pdk__cli_listing_array(const struct pdk__cli_rows *rows)
{
    json_t *array = json_array();
    for (size_t i = rows->first; i < rows->n; i++) {
        json_t *object = pdk__cli_listing_object(rows->list, i);
        pdk__cli_json_text(object, "state", pdk__cli_row_state(rows, i));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *pdk__cli_listing_report(const pdk_contender_list *list, const char *path)
{
    json_t *top = json_object();
    struct pdk__cli_rows rows = pdk__cli_rows(list);
    struct pdk__cli_counter counter = pdk__cli_counter(list);
    pdk__cli_json_text(top, "path", path);
    json_object_set_new(top, "exists", json_boolean(pdk_contender_list_number(list, PDK_LIST_SINCE_MS) > 0));
    pdk__cli_json_text(top, "kind", pdk__cli_site_word(rows.site));
    json_object_set_new(top, "contenders", pdk__cli_listing_array(&rows));
    json_object_set_new(top, "counter", pdk__cli_counter_object(&counter));
    return top;
}
