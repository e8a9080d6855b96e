/* The model of the client is at work, and not ZooKeeper's own. */
#include "test/sim/wired.h"
#include <stdlib.h>

const bool client_is_real = false;

void wired_forget(void) {}
void wired_pong(struct client *c) { (void)c; }

void wired_hand_over(struct client *c, enum in_kind kind, uint64_t ticket, const void *body)
{
    (void)c, (void)kind, (void)ticket, (void)body;
    abort();
}
