/*
 * The valid paths are those of the rules, said here once more by their characters. Each ancestor of a path is found. A
 * part is the most bytes that a path has.
 */
#include "lib/core/path.h"
#include "test/cbmc/prove.h"

static char path[PART + 1];
static size_t length;

static bool ends_part(size_t at) { return path[at] == '/' || path[at] == '\0'; }

/* An empty part begins with the slash at AT, or ".", or "..". */
static bool bad_part(size_t at)
{
    return ends_part(at + 1) || (path[at + 1] == '.' && ends_part(at + 2)) ||
           (path[at + 1] == '.' && path[at + 2] == '.' && ends_part(at + 3));
}

static bool bad_character(char c) { return (unsigned char)c < ' ' || c == 0x7f; }

static bool is_valid(void)
{
    bool valid = path[0] == '/';
    for (size_t i = 0; i < length; i++)
        valid = valid && !bad_character(path[i]) && !(path[i] == '/' && bad_part(i));
    return valid;
}

static void prove_ancestors(void)
{
    size_t at = 0, n_slashes = 0, n = 0;
    for (size_t i = 0; i < length; i++)
        n_slashes += path[i] == '/';
    for (size_t to; (to = pdk__path_next(path, at)) != 0; at = to) {
        PROVE(to > at && to <= length && ends_part(to), "a longer ancestor comes next");
        n++;
    }
    PROVE(at == length && n == n_slashes, "each ancestor comes once, and the path last");
    REACH(n == 3);
}

int main(void)
{
    for (int i = 0; i < PART; i++)
        path[i] = nondet_char();
    while (path[length] != '\0')
        length++;
    bool valid = pdk__path_valid(path);
    PROVE(valid == is_valid(), "valid paths are those of the rules");
    REACH(!valid && path[0] == '/');
    if (valid)
        prove_ancestors();
}
