#include "cli/run/request.h"

#include "cli/json.h"
#include "cli/number.h"
#include "cli/run/recipe.h"
#include "lib/assert.h"

#include <paddock/error.h>
#include <stdlib.h>

/* A waiter lists again when its predecessor goes, and no callback tells that. */
enum { LOOK_MS = 1000 };

enum { NODE_MAX = 256, WHY = 512 };

enum stage { STAGE_WAITING, STAGE_CANCELLING, STAGE_HELD, STAGE_RELEASING, STAGE_ENDED };

struct request {
    struct pdk__list link;
    struct pdk__cli_requests *all;
    json_t *id;
    struct pdk__cli_object lock;
    enum stage stage;
    int64_t ahead; /* as it was reported; -1: not yet */
};

void pdk__cli_requests_begin(struct pdk__cli_requests *all, pdk_client *client, struct pdk__cli_line_output *output)
{
    *all = (struct pdk__cli_requests){.client = client, .output = output};
    pdk__list_init(&all->open);
    pdk__list_init(&all->ended);
}

static struct request *find(const struct pdk__cli_requests *all, const json_t *id)
{
    PDK__LIST_EACH (link, (struct pdk__list *)&all->open) {
        struct request *r = PDK__MEMBER(link, struct request, link);
        if (json_equal(r->id, id))
            return r;
    }
    return NULL;
}

bool pdk__cli_requests_have(const struct pdk__cli_requests *all, const json_t *id) { return find(all, id) != NULL; }

/* --- events ------------------------------------------------------------------------------------------------------ */

json_t *pdk__cli_event(const char *name, json_t *id)
{
    json_t *event = json_object();
    pdk__cli_json_text(event, "event", name);
    if (id != NULL)
        json_object_set(event, "id", id);
    return event;
}

static void put(const struct request *r, json_t *event) { pdk__cli_line_output_add(r->all->output, event); }

static void set_number(json_t *event, const char *name, int64_t number)
{
    json_object_set_new(event, name, json_integer(number));
}

static void set_error(json_t *event, int rc, const char *message)
{
    pdk__cli_json_text(event, "error", pdk_strerrorname(rc));
    pdk__cli_json_text(event, "message", message != NULL && *message != '\0' ? message : pdk_strerror(rc));
}

static void set_nodes(json_t *event, const struct request *r)
{
    char node[NODE_MAX];
    unsigned n = pdk_grant_count(r->lock.grant);
    json_t *nodes = json_array();
    for (unsigned i = 0; i < n; i++) {
        pdk_grant_node(r->lock.grant, i, node, sizeof node);
        pdk__cli_json_append(nodes, node);
    }
    json_object_set(event, "node", json_array_get(nodes, 0));
    if (n > 1)
        json_object_set(event, "nodes", nodes);
    json_decref(nodes);
}

static void set_grant(json_t *event, const struct request *r)
{
    int64_t token = 0;
    pdk_grant_token(r->lock.grant, &token, NULL);
    set_number(event, "token", token);
    set_nodes(event, r);
    pdk__cli_json_text(event, "path", pdk_lock_path(r->lock.lock, 0));
    set_number(event, "valid_ms", pdk_grant_valid_ms(r->lock.grant));
}

static void report_held(const struct request *r)
{
    json_t *event = pdk__cli_event("held", r->id);
    set_grant(event, r);
    put(r, event);
}

static void report_suspect(const struct request *r)
{
    json_t *event = pdk__cli_event("suspect", r->id);
    set_number(event, "valid_ms", pdk_grant_valid_ms(r->lock.grant));
    put(r, event);
}

static void report_place(struct request *r, int64_t ahead)
{
    if (ahead < 0 || ahead == r->ahead || r->stage != STAGE_WAITING)
        return;
    r->ahead = ahead;
    json_t *event = pdk__cli_event("queued", r->id);
    set_number(event, "ahead", ahead);
    put(r, event);
}

/* --- its end ----------------------------------------------------------------------------------------------------- */

/* EVENT is its last one. The lock is freed after the callbacks: one of them may be its own. */
static void end(struct request *r, json_t *event)
{
    assert(r->stage != STAGE_ENDED);
    put(r, event);
    r->stage = STAGE_ENDED;
    pdk__list_remove(&r->link);
    pdk__list_append(&r->all->ended, &r->link);
}

static void end_failed(struct request *r, int rc)
{
    char why[WHY] = "";
    json_t *event = pdk__cli_event("failed", r->id);
    if (r->lock.lock != NULL && rc != PDK_ECANCELED)
        pdk_lock_last_error(r->lock.lock, why, sizeof why);
    set_error(event, rc, why);
    end(r, event);
}

static void end_released(struct request *r, int rc)
{
    char why[WHY] = "";
    json_t *event = pdk__cli_event(rc == PDK_ELOST ? "lost" : "released", r->id);
    if (rc != 0)
        pdk_lock_last_error(r->lock.lock, why, sizeof why);
    if (rc != 0)
        set_error(event, rc, why);
    end(r, event);
}

static void released(int rc, void *arg) { end_released(arg, rc); }

static void release(struct request *r)
{
    r->stage = STAGE_RELEASING;
    int rc = pdk__cli_object_release(&r->lock, released, r);
    if (rc != 0)
        end_released(r, rc);
}

/* --- its life ---------------------------------------------------------------------------------------------------- */

static void granted(int rc, void *arg)
{
    struct request *r = arg;
    bool cancelled = r->stage == STAGE_CANCELLING;
    if (rc != 0) {
        end_failed(r, rc);
        pdk__cli_object_release(&r->lock, NULL, NULL); /* ends the handle: there is no grant */
        return;
    }
    r->stage = STAGE_HELD;
    report_held(r);
    if (cancelled)
        release(r);
}

static void change(struct request *r, pdk_state state)
{
    if (r->stage != STAGE_HELD)
        return;
    if (state == PDK_LOST)
        release(r);
    else if (state == PDK_SUSPECT)
        report_suspect(r);
    else
        report_held(r);
}

static void happened(pdk_lock *l, const pdk_event *event, void *arg)
{
    struct request *r = arg;
    assert(l == r->lock.lock);
    if (event->kind == PDK_EVENT_QUEUED)
        report_place(r, event->ahead);
    else if (event->kind == PDK_EVENT_STATE)
        change(r, event->state);
    else if (event->kind == PDK_EVENT_REVOKED && r->stage == STAGE_HELD)
        put(r, pdk__cli_event("wanted", r->id));
}

void pdk__cli_request_lock(struct pdk__cli_requests *all, json_t *id, const struct pdk__cli_options *o)
{
    assert(find(all, id) == NULL);
    struct request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        pdk__cli_request_refuse(all, id, PDK_ENOMEM, NULL);
        return;
    }
    *r = (struct request){.all = all, .id = json_incref(id), .ahead = -1};
    pdk__list_append(&all->open, &r->link);
    int rc = pdk__cli_object_make(&r->lock, all->client, o, happened, r);
    if (rc == 0)
        rc = pdk__cli_recipe(o)->request(&r->lock, o->wait_ms, granted, r);
    if (rc != 0)
        end_failed(r, rc);
    else if (pdk__cli_requests_due(all) < 0)
        all->look_ms = pdk__cli_now_ms() + LOOK_MS;
}

void pdk__cli_request_refuse(struct pdk__cli_requests *all, json_t *id, int rc, const char *message)
{
    json_t *event = pdk__cli_event("failed", id);
    set_error(event, rc, message);
    pdk__cli_line_output_add(all->output, event);
}

static void leave(struct request *r)
{
    if (r->stage == STAGE_HELD) {
        release(r);
    } else if (r->stage == STAGE_WAITING) {
        r->stage = STAGE_CANCELLING;
        pdk_grant_cancel(r->lock.grant);
    }
}

bool pdk__cli_request_unlock(struct pdk__cli_requests *all, const json_t *id)
{
    struct request *r = find(all, id);
    if (r != NULL)
        leave(r);
    return r != NULL;
}

void pdk__cli_requests_leave(struct pdk__cli_requests *all)
{
    PDK__LIST_EACH (link, &all->open) {
        leave(PDK__MEMBER(link, struct request, link));
    }
}

/* --- its state --------------------------------------------------------------------------------------------------- */

static const char *state_of(const struct request *r)
{
    if (r == NULL)
        return "free";
    if (r->stage == STAGE_WAITING)
        return "waiting";
    if (r->stage != STAGE_HELD)
        return "ending";
    switch (pdk_grant_state(r->lock.grant)) {
    case PDK_HELD:
        return "held";
    case PDK_SUSPECT:
        return "suspect";
    default:
        return "lost";
    }
}

void pdk__cli_request_state(const struct pdk__cli_requests *all, json_t *id)
{
    const struct request *r = find(all, id);
    json_t *event = pdk__cli_event("state", id);
    pdk__cli_json_text(event, "state", state_of(r));
    if (r != NULL && r->stage == STAGE_HELD)
        set_grant(event, r);
    else if (r != NULL && r->stage == STAGE_WAITING)
        json_object_set_new(event, "ahead", r->ahead >= 0 ? json_integer(r->ahead) : json_null());
    pdk__cli_line_output_add(all->output, event);
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

static bool dispose(struct request *r)
{
    if (r->lock.lock != NULL && pdk_lock_free(r->lock.lock) != 0)
        return false; /* its release goes on */
    pdk__list_remove(&r->link);
    json_decref(r->id);
    free(r);
    return true;
}

static void dispose_ended(struct pdk__cli_requests *all)
{
    PDK__LIST_EACH (link, &all->ended) {
        dispose(PDK__MEMBER(link, struct request, link));
    }
}

/* Compare the places. True when one request waits. */
static bool look(struct pdk__cli_requests *all)
{
    bool waits = false;
    PDK__LIST_EACH (link, &all->open) {
        struct request *r = PDK__MEMBER(link, struct request, link);
        int64_t ahead = -1;
        if (r->stage == STAGE_WAITING && pdk_grant_ahead(r->lock.grant, &ahead) == 0)
            report_place(r, ahead);
        waits |= r->stage == STAGE_WAITING;
    }
    return waits;
}

int64_t pdk__cli_requests_due(const struct pdk__cli_requests *all) { return all->look_ms > 0 ? all->look_ms : -1; }

void pdk__cli_requests_step(struct pdk__cli_requests *all)
{
    int64_t now = pdk__cli_now_ms();
    dispose_ended(all);
    if (all->look_ms > 0 && now >= all->look_ms)
        all->look_ms = look(all) ? now + LOOK_MS : 0;
}

void pdk__cli_requests_free(struct pdk__cli_requests *all)
{
    PDK__LIST_EACH (link, &all->open) {
        dispose(PDK__MEMBER(link, struct request, link));
    }
    dispose_ended(all);
}
