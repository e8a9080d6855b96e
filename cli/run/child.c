#include "cli/run/child.h"

#include "cli/number.h"
#include "lib/assert.h"

#include <errno.h>
#include <unistd.h>

static int become(const void *arg)
{
    const struct pdk__cli_order *order = arg;
    sigprocmask(SIG_SETMASK, order->mask, NULL);
    if (!pdk__cli_page_covers(order->page, pdk__cli_now_ms(), order->signal))
        return PDK__CLI_CHILD_EXPIRED;
    execvp(order->argv[0], order->argv);
    return errno;
}

int pdk__cli_child_prepare(struct pdk__cli_spawned *p, const struct pdk__cli_order *order)
{
    struct pdk__cli_errand errand = {.become = become, .arg = order, .death_signal = SIGKILL, .leads = true};
    assert(order->argv[0] != NULL && order->signal >= 0);
    return pdk__cli_spawn(p, &errand);
}
