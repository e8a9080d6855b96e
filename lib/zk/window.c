#include "lib/zk/window.h"
#include "lib/assert.h"
#include "lib/core/event.h"

static bool any_waits(const struct pdk__window *w)
{
    return !pdk__list_empty(&w->urgent) || !pdk__list_empty(&w->others);
}

static bool full(const struct pdk__window *w) { return w->asked >= w->size; }

static void send_first(struct pdk__window *w)
{
    struct pdk__list *first = !pdk__list_empty(&w->urgent) ? w->urgent.next : w->others.next;
    struct pdk__window_entry *entry = PDK__MEMBER(first, struct pdk__window_entry, link);
    pdk__list_remove(first);
    entry->send(entry);
}

/* Of a lost connection all questions are answered before the loss is reported. Those that wait are asked anew after
 * it. */
static bool connected(const struct pdk_client *c) { return c->zh != NULL && zoo_state(c->zh) == ZOO_CONNECTED_STATE; }

static void go_on(struct pdk__deferred *deferred)
{
    struct pdk__window *w = PDK__MEMBER(deferred, struct pdk__window, deferred);
    while (any_waits(w) && !full(w) && connected(PDK__MEMBER(w, struct pdk_client, window)))
        send_first(w);
}

static void go_on_later(struct pdk_client *c)
{
    if (any_waits(&c->window) && !full(&c->window))
        pdk__client_defer(c, &c->window.deferred);
}

void pdk__window_init(struct pdk_client *c)
{
    c->window = (struct pdk__window){.size = PDK__WINDOW_FIRST, .max = PDK__WINDOW_MAX, .deferred.run = go_on};
    pdk__list_init(&c->window.urgent);
    pdk__list_init(&c->window.others);
    pdk__list_init(&c->window.deferred.link);
}

bool pdk__window_open(const struct pdk_client *c) { return !full(&c->window) && !any_waits(&c->window); }

void pdk__window_wait(struct pdk_client *c, struct pdk__window_entry *entry, bool urgent)
{
    assert(pdk__client_locked(c) && entry->send != NULL);
    pdk__list_remove(&entry->link);
    pdk__list_append(urgent ? &c->window.urgent : &c->window.others, &entry->link);
    go_on_later(c);
}

void pdk__window_asked(struct pdk_client *c, unsigned weight) { c->window.asked += weight; }

/* The round trip counts, but it is measured by the same answers: if they wait, it seems to be longer. */
static int64_t in_time_ms(const struct pdk_client *c)
{
    int64_t part_ms = c->session.timeout_ms / PDK__WINDOW_LATE_PART;
    return part_ms + pdk__sooner_ms(part_ms, pdk__session_lag_ms(&c->session));
}

static void resize(struct pdk__window *w, bool late)
{
    if (late)
        w->size -= w->size > PDK__WINDOW_MIN;
    else
        w->size += w->size < w->max;
}

void pdk__window_answered(struct pdk_client *c, unsigned weight, int64_t ms)
{
    assert(pdk__client_locked(c) && c->window.asked >= weight);
    if (weight > 0)
        resize(&c->window, ms > in_time_ms(c));
    c->window.asked -= weight;
    go_on_later(c);
}
