/* The numbers of attempts: each create of a node of ours has one, and it is in the node's name. */
#ifndef PDK__ATTEMPT_H
#define PDK__ATTEMPT_H

#include <stdint.h>

/* Another number, never 0. */
uint32_t pdk__attempt_next(void);

#endif
