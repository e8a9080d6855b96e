#include <paddock/error.h>
#include <stddef.h>

enum class { PLAIN, RETRY, UNKNOWN, FATAL };

struct entry {
    int code;
    enum class class;
    const char *name;
    const char *text;
};

#define ENTRY(name, code, class, text) {code, class, #name, text},
static const struct entry entries[] = {PDK_ERRORS(ENTRY)};
#undef ENTRY

static const struct entry *find(int code)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (entries[i].code == code)
            return &entries[i];
    return NULL;
}

static bool is(int code, enum class class)
{
    const struct entry *e = find(code);
    return e != NULL && e->class == class;
}

const char *pdk_strerror(int code)
{
    const struct entry *e = find(code);
    if (code == PDK_OK)
        return "success";
    return e != NULL ? e->text : "unknown error";
}

const char *pdk_strerrorname(int code)
{
    const struct entry *e = find(code);
    if (code == PDK_OK)
        return "PDK_OK";
    return e != NULL ? e->name : "PDK_E?";
}

bool pdk_err_retriable(int code) { return is(code, RETRY); }

bool pdk_err_unknown(int code) { return is(code, UNKNOWN); }

bool pdk_err_fatal(int code) { return is(code, FATAL); }
