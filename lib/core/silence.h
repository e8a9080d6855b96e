/*
 * A silent server: when the client breaks the connection to it, or ends the attempt to make one.
 */
#ifndef PDK__SILENCE_H
#define PDK__SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct pdk__silence {
    int64_t waited_ms; /* since when an answer has been awaited, while any request is under way */
    int64_t left_ms;   /* when a server was left last; PDK__UNKNOWN_MS when none was */
    int n_left;        /* how often, without an answer soon after it */
    int64_t sought_ms; /* while suspended or opening: since when a server is sought, or the last was passed over */
    int n_passed;      /* how many were passed over since then */
};

void pdk__silence_init(struct pdk__silence *q);

/* A server is sought from NOW_MS on. */
void pdk__silence_seek(struct pdk__silence *q, int64_t now_ms);

/* An answer came at NOW_MS. WRITE_SENT_MS: when the write that it answers was sent, if a quorum agreed on it; else
 * PDK__UNKNOWN_MS. */
void pdk__silence_answered(struct pdk__silence *q, int64_t now_ms, int64_t write_sent_ms, int64_t timeout_ms);

/* When a connected server is to be left, while a request is under way. LAG_MS: the round trip. */
int64_t pdk__silence_leave_ms(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms);

/* When a server that is tried is to be passed over; PDK__NEVER (event.h) for never. */
int64_t pdk__silence_pass_ms(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms);

/* It is left, or passed over. */
void pdk__silence_left(struct pdk__silence *q, int64_t now_ms);
void pdk__silence_passed(struct pdk__silence *q, int64_t now_ms);

#endif
