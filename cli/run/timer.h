/* A descriptor that becomes readable at a time of pdk__cli_now_ms()'s clock. poll()'s own timeout does not count the
 * time that the machine was suspended, and would come late by that time. */
#ifndef PDK_CLI_TIMER_H
#define PDK_CLI_TIMER_H

#include <stdint.h>

/* -1 when none can be created: poll() works without. */
int pdk__cli_timer_new(void);

/* Readable from AT on, and not before; -1: never. */
void pdk__cli_timer_arm(int timer, int64_t at);

#endif
