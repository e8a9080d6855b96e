/*
 * The askers: a thread of a client that asks for all that the library tells without a request, and polls for changes;
 * and a log. The answers are judged here, at once.
 */
#include "test/sim/shim.h"
#include "test/sim/world.h"
#include <paddock.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

static const char law[] = "asker";

/* --- texts ------------------------------------------------------------------------------------------------------- */

/* The whole length is told, whatever the room for it, and the end is marked. */
static void judge_text(const struct client *c, const char *what, const char *text, size_t length, size_t size)
{
    if (strlen(text) != (length < size ? length : size - 1))
        world_break(c->world, law, "client %d is told \"%s\" of %zu bytes: %s", c->id, text, length, what);
}

static void ask_texts(struct client *c)
{
    char text[300];
    size_t size = chance(&c->world->random, 500) ? sizeof text : 8;
    judge_text(c, "reason", text, pdk_client_session_reason(c->library, text, size), size);
    judge_text(c, "last error", text, pdk_client_last_error(c->library, text, size), size);
    judge_text(c, "last error of nobody", text, pdk_client_last_error(NULL, text, size), size);
    judge_text(c, "last error of a lock", text, pdk_lock_last_error(c->locks[RECIPE_MUTEX], text, size), size);
    judge_text(c, "node", text, pdk_lock_node(c->locks[RECIPE_MUTEX], 0, text, size), size);
    if (c->locks[RECIPE_LEADER] == NULL)
        return;
    judge_text(c, "last error of a leader", text, pdk_lock_last_error(c->locks[RECIPE_LEADER], text, size), size);
    judge_text(c, "node of a leader", text, pdk_lock_node(c->locks[RECIPE_LEADER], 0, text, size), size);
}

void client_log(pdk_client *library, pdk_log_level level, int64_t at_ms, const char *text, void *client)
{
    struct client *c = client;
    (void)library;
    if (level < PDK_LOG_ERROR || level > c->log_level || at_ms <= 0 || *text == '\0' || strchr(text, '\n') != NULL)
        world_break(c->world, law, "client %d logs by level %d: %s", c->id, (int)level, text);
    see(SIGHT_LOGGED);
}

/* --- the session ------------------------------------------------------------------------------------------------- */

/* No state is reported twice in a row. */
void client_told(pdk_client *library, pdk_session_state state, void *client)
{
    struct client *c = client;
    (void)library;
    if (c->told && c->told_state == state)
        world_break(c->world, law, "client %d is told state %d twice", c->id, (int)state);
    c->told = true;
    c->told_state = state;
    see(SIGHT_SESSION_TOLD);
}

static void ask_session(struct client *c)
{
    bool over = pdk_client_state(c->library) == PDK_SESSION_OVER;
    fiber_now->n_locks++; /* no time passes between the two */
    int64_t id = pdk_client_session_id(c->library);
    int timeout_ms = pdk_client_session_timeout_ms(c->library);
    fiber_now->n_locks--;
    if ((id != 0) != (timeout_ms > 0))
        world_break(c->world, law, "client %d has session %llx, and its timeout", c->id, (long long)id);
    int rc = pdk_client_wait(c->library, chance(&c->world->random, 100) ? 20 : 0);
    if (over && (rc == 0 || !pdk_err_fatal(rc)))
        world_break(c->world, law, "client %d is over, and waits: %s", c->id, pdk_strerror(rc));
    if (pdk_err_fatal(rc) && (pdk_err_retriable(rc) || pdk_err_unknown(rc)))
        world_break(c->world, law, "%s is of two classes", pdk_strerrorname(rc));
}

/* --- a lock and a leader ----------------------------------------------------------------------------------------- */

static void judge_ahead(const struct client *c, int rc, int64_t ahead)
{
    if (rc != PDK_EPERM && (rc != 0 || ahead < -1 || ahead > NODES_MAX))
        world_break(c->world, law, "client %d has %lld contenders ahead: %s", c->id, (long long)ahead,
                    pdk_strerrorname(rc));
}

static void ask_mutex(struct client *c)
{
    pdk_lock *m = c->locks[RECIPE_MUTEX];
    int64_t ahead = 0;
    judge_ahead(c, pdk_lock_ahead(m, &ahead), ahead);
    if (strcmp(pdk_lock_path(m, 0), "/0") != 0)
        world_break(c->world, law, "a lock of client %d is another's", c->id);
}

static void ask_leader(struct client *c, pdk_leader *l)
{
    int64_t ahead = 0;
    judge_ahead(c, pdk_lock_ahead(l, &ahead), ahead);
    if (strcmp(pdk_lock_path(l, 0), "/2") != 0)
        world_break(c->world, law, "the leader of client %d is another's", c->id);
    pdk_state state = pdk_lock_state(l);
    if (state != PDK_FREE && state != PDK_HELD && state != PDK_SUSPECT)
        world_break(c->world, law, "client %d leads in state %d", c->id, (int)state);
}

/* --- changes ----------------------------------------------------------------------------------------------------- */

/* After a loss no grant is reported; and no report comes twice. */
static void take_states(struct client *c)
{
    pdk_event event;
    while (pdk_lock_next_event(c->locks[RECIPE_MUTEX], &event) == 1) {
        see(SIGHT_POLLED);
        if (event.kind != PDK_EVENT_STATE)
            continue;
        if (event.token == c->polled.token && (event.state == c->polled.state || c->polled.state == PDK_LOST))
            world_break(c->world, law, "client %d polls state %d of %llx after %d", c->id, (int)event.state,
                        (unsigned long long)event.token, (int)c->polled.state);
        c->polled = event;
    }
}

static void take_terms(struct client *c)
{
    pdk_event event;
    while (c->locks[RECIPE_LEADER] != NULL && pdk_lock_next_event(c->locks[RECIPE_LEADER], &event) == 1) {
        bool of_term = event.kind != PDK_EVENT_REVOKED && event.kind != PDK_EVENT_QUEUED;
        if (of_term && event.kind != PDK_EVENT_WITHDRAWN && event.kind == c->polled_term.kind &&
            event.state == c->polled_term.state)
            world_break(c->world, law, "client %d polls event %d twice", c->id, (int)event.kind);
        if (of_term)
            c->polled_term = event;
    }
}

/* Without memory there may be none yet. */
static int checked(struct client *c, int fd)
{
    if (fd < 0 && fd != PDK_ENOMEM)
        world_break(c->world, law, "client %d cannot poll", c->id);
    return fd < 0 ? -1 : fd;
}

static void poll_changes(struct client *c, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = checked(c, pdk_lock_fd(c->locks[RECIPE_MUTEX])), .events = POLLIN},
                           {.events = POLLIN}};
    bool leads = c->locks[RECIPE_LEADER] != NULL;
    fds[1].fd = leads ? checked(c, pdk_lock_fd(c->locks[RECIPE_LEADER])) : -1;
    sim_poll(fds, leads ? 2 : 1, timeout_ms);
    take_states(c);
    take_terms(c);
}

/* --- the thread -------------------------------------------------------------------------------------------------- */

void *client_ask(void *client)
{
    struct client *c = client;
    c->asking = true;
    while (!c->closes) {
        ask_texts(c);
        ask_session(c);
        ask_mutex(c);
        if (c->locks[RECIPE_LEADER] != NULL)
            ask_leader(c, c->locks[RECIPE_LEADER]);
        fiber_block(c, 1000);
        if (!c->closes)
            poll_changes(c, c->world->healed ? 500 : 50);
    }
    c->asking = false;
    return NULL;
}

/* A program that dispatches would hear of it there, and nowhere else. */
int client_ask_all(struct client *c, pdk_client_options *o)
{
    int rc = pdk_client_options_set_log(o, c->log_level, client_log, c);
    if (rc == 0)
        rc = pdk_client_options_set_on_session(o, client_told, c);
    if (rc == 0)
        rc = pdk_client_options_set_label(o, "sim");
    if (rc == 0)
        rc = pdk_client_options_set_session_timeout_ms(o, (int)c->world->session_ms);
    if (rc == 0)
        rc = pdk_client_options_set_dispatch(o, c->dispatches);
    if (rc == 0)
        rc = pdk_client_options_set_clock(o, (int)c->world->policy.tick_ms, (int)c->world->policy.margin_ms);
    return rc;
}
