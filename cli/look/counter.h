/* The counter of a path, from which the servers take the sequence numbers of its contenders: it has an end. */
#ifndef PDK_CLI_COUNTER_H
#define PDK_CLI_COUNTER_H

#include <jansson.h>
#include <paddock/contenders.h>

enum pdk__cli_counter_level {
    COUNTER_FINE,
    COUNTER_HALF, /* half of the numbers are used */
    COUNTER_LOW,  /* a tenth is left, or less than 30 days at the rate of the creates */
    COUNTER_SPENT /* none is left: no number orders contenders any more */
};

struct pdk__cli_counter {
    int64_t created, left;
    double per_second; /* creates, on average; 0: not known */
    int64_t left_ms;   /* how long the numbers last at that rate; -1: not known */
    enum pdk__cli_counter_level level;
};

/* The counter after CREATED creates, PER_SECOND on average. */
struct pdk__cli_counter pdk__cli_counter_of(int64_t created, double per_second);

/* The counter of the path that was listed. The rate is that since the path was created, or since its first contender
 * was, whichever is larger. A time of less than a minute tells no rate. */
struct pdk__cli_counter pdk__cli_counter(const pdk_contender_list *list);

/* A warning in words, "" for COUNTER_FINE; and the advice that goes with it. */
void pdk__cli_counter_text(const struct pdk__cli_counter *counter, char *text, size_t size);
extern const char pdk__cli_counter_advice[];

/* For programs; the caller's. */
json_t *pdk__cli_counter_object(const struct pdk__cli_counter *counter);

#endif
