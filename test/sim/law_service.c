/* Every waiter is served once all is healed; world_run() waits for it. */
#include "test/sim/laws.h"

const struct law law_service = {.name = "service"};
