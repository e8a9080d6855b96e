#include "cli/process_title.h"
#include "lib/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static char *first; /* the system lays the arguments out one after the other */
static char *copy;  /* laid out in the same way */
static size_t size;

int pdk__cli_process_title_begin(char **argv)
{
    first = argv[0];
    for (int i = 0; first != NULL && argv[i] == first + size; i++)
        size += strlen(argv[i]) + 1;
    if (size == 0)
        return 0;
    copy = malloc(size);
    if (copy == NULL)
        return -1;
    memcpy(copy, first, size);
    size_t at = 0;
    for (int i = 0; at < size; i++) {
        argv[i] = copy + at;
        at += strlen(argv[i]) + 1;
    }
    return 0;
}

void pdk__cli_process_title_set(const char *name, pid_t of)
{
    assert(strlen(name) < 16);
    prctl(PR_SET_NAME, name);
    if (size == 0)
        return;
    memset(first, 0, size);
    snprintf(first, size, "%s %d", name, (int)of);
}

void pdk__cli_process_title_hide(char *value)
{
    size_t n = strlen(value);
    memset(value, 'x', n);
    if (copy != NULL && value >= copy && value < copy + size)
        memset(first + (value - copy), 'x', n);
}
