/*
 * Every waiter is served once all is healed; world_run() waits for it. At the end of a path's numbers no contender is
 * refused that can come back, where the path can be renewed.
 */
#include "test/sim/laws.h"

const struct law law_service = {.name = "service"};

void law_service_judge(struct world *w, const struct claim *claim, int error)
{
    const struct pdk__wish *wish = claim->machine->wish;
    if (error == PDK_EEXHAUSTED && !w->hostile && !wish->bound)
        world_break(w, law_service.name, "client %d claim %llu is refused: the numbers are used up", claim->client->id,
                    (unsigned long long)claim->number);
}
