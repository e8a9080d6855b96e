/*
 * A fuzz target: one function that takes any bytes, and an oracle that stops the program when what it sees breaks a
 * promise. libFuzzer calls it with bytes of its own making (test/fuzz/run); replay.c calls it with the files of
 * test/fuzz/corpus/NAME, which needs no particular compiler.
 */
#ifndef PDK__FUZZ_H
#define PDK__FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The target's name, which is also its corpus's. */
extern const char pdk__fuzz_name[];

/* The name is libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)                                                                                                     \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond);                                         \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Bytes taken one after the other; zeros when there are no more. */
struct bytes {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t take(struct bytes *b)
{
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

/* A copy of all bytes, NUL-terminated; caller frees. */
static inline char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    MUST(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif
