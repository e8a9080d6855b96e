/* Numbers as people type them. */
#ifndef PDK_CLI_NUMBER_H
#define PDK_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds, from 0 to a billion, to milliseconds, rounded up: only zero is zero. */
bool pdk__cli_number_ms(double seconds, int64_t *ms);

/* Seconds with decimals, as ".5" or "10", to milliseconds likewise. */
bool pdk__cli_number_seconds(const char *text, int64_t *ms);

/* A whole number between LOW and HIGH. */
/* A time with its unit, as "90s", "20m", "12h" or "1d". */
bool pdk__cli_number_period(const char *text, int64_t *ms);

bool pdk__cli_number_whole(const char *text, int low, int high, int *value);

/* A token: a whole number from 0 that fits into 63 bits. */
bool pdk__cli_number_token(const char *text, int64_t *token);

/* A signal: "TERM", "SIGTERM" in either case, or its number. */
bool pdk__cli_number_signal(const char *text, int *number);

/* Milliseconds on a clock that counts suspended time. */
int64_t pdk__cli_now_ms(void);

/* How long until DEADLINE (-1: never), in the form of poll()'s timeout. */
int pdk__cli_poll_ms(int64_t deadline);

/* The earlier of two deadlines, -1 being never. */
int64_t pdk__cli_earlier(int64_t a, int64_t b);

/* "3s", "2m10s", "1h05m", "4d02h". */
const char *pdk__cli_duration(int64_t ms, char buf[32]);

#endif
