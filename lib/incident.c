#include "lib/incident.h"
#include <paddock/error.h>
#include <stdatomic.h>
#include <stdio.h>

static _Thread_local struct {
    uint64_t object;
    char text[PDK__INCIDENT_MAX];
} last;

uint64_t pdk__incident_object(void)
{
    static atomic_uint_least64_t number;
    return atomic_fetch_add(&number, 1) + 1;
}

void pdk__incident_note(uint64_t object, const char *text)
{
    last.object = object;
    snprintf(last.text, sizeof last.text, "%s", text);
}

void pdk__incident_clear(uint64_t object)
{
    if (last.object == object)
        last.text[0] = '\0';
}

const char *pdk__incident_text(uint64_t object) { return last.object == object ? last.text : ""; }

void pdk__incident_format(char buf[PDK__INCIDENT_MAX], const char *verb, const char *subject, int rc, const char *why)
{
    snprintf(buf, PDK__INCIDENT_MAX, "%s %s: %s%s%s", verb, subject, pdk_strerror(rc), why[0] != '\0' ? ": " : "", why);
}

size_t pdk__incident_copy(char *buf, size_t size, const char *text) { return (size_t)snprintf(buf, size, "%s", text); }

void pdk__incident_clean(char *buf, size_t buf_size, const char *text, size_t size)
{
    size_t n = size < buf_size ? size : buf_size - 1;
    for (size_t i = 0; i < n; i++)
        buf[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
    buf[n] = '\0';
}
