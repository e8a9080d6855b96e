/*
 * The words of the programs that try every case of a kind, where a solver has no answer in its time. Such a program
 * speaks to test/cbmc/run as CBMC does.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define PROVE(condition, law) search_prove(condition, __FILE__, __LINE__, law)

/* A proof of what never happens shows nothing: some case gets here. */
#define REACH(condition) (search_reached[search_place(__LINE__)] |= (condition))

enum { SEARCH_LINES = 1000 };

static bool search_reached[SEARCH_LINES], search_has[SEARCH_LINES];
static long search_cases;
static void (*search_show)(void); /* prints the case */

static inline int search_place(int line)
{
    search_has[line] = true;
    return line;
}

static inline void search_prove(bool condition, const char *file, int line, const char *law)
{
    if (condition)
        return;
    printf("[%s.%d] %s: FAILURE\n", file, line, law);
    if (search_show != NULL)
        search_show();
    exit(1);
}

/* All cases are tried. */
static inline int search_end(void)
{
    int failed = 0;
    for (int line = 0; line < SEARCH_LINES; line++)
        if (search_has[line] && !search_reached[line])
            failed += printf("[line.%d] line %d is not reached: FAILURE\n", line, line) > 0;
    if (failed == 0)
        printf("** 0 of %ld failed\nVERIFICATION SUCCESSFUL\n", search_cases);
    return failed;
}

#endif
