#include "recipes/mixture.h"
#include "lib/alloc.h"
#include "lib/core/path.h"
#include "lib/zk/log.h"
#include "recipes/hold.h"
#include <stdio.h>
#include <string.h>

struct pdk__mixture {
    struct pdk__wire wire;
    struct pdk__hold *hold;
    void (*answered)(struct pdk__hold *hold);
    unsigned step;                /* of its questions */
    uint64_t op;                  /* of the one under way; 0: none */
    int64_t session;              /* in which it was sent */
    bool known;                   /* all were answered */
    char misfit[PDK__REASON_MAX]; /* what was found, in words; "" */
};

static bool is_semaphore(const struct pdk__hold *hold) { return hold->wish->rule->tag == PDK__TAG_PERMIT; }

/* --- the questions ----------------------------------------------------------------------------------------------- */

static int list(struct pdk__mixture *m, const char *path)
{
    m->op = ++m->wire.client->ops;
    return pdk__wire_list(&m->wire, m->op, path);
}

static int list_leases(struct pdk__mixture *m, const char *path)
{
    char *leases = pdk__join(path, "leases");
    int rc = leases != NULL ? list(m, leases) : PDK_ENOMEM;
    pdk__free(leases);
    return rc;
}

static bool has_parts(const struct pdk__hold *hold, unsigned i) { return hold->parts[i].claim.standing.parts; }

/* The next question: 0. 1: there is none. */
static int ask(struct pdk__mixture *m)
{
    const struct pdk__hold *hold = m->hold;
    if (is_semaphore(hold))
        return m->step < 2 ? list(m, m->step == 0 ? hold->object->path : hold->sites.path) : 1;
    while (m->step < hold->sites.n && !has_parts(hold, m->step))
        m->step++;
    return m->step < hold->sites.n ? list_leases(m, hold->parts[m->step].path) : 1;
}

static void finish(struct pdk__mixture *m, bool known)
{
    struct pdk__hold *hold = m->hold;
    m->op = 0;
    m->known = known;
    hold->object->unmixed = known && m->misfit[0] == '\0';
    if (m->misfit[0] != '\0')
        pdk__log(m->wire.client, PDK_LOG_WARNING, "%s: %s", hold->object->path, m->misfit);
    if (m->misfit[0] != '\0' && !hold->unmixed)
        pdk__part_note_hindrance(hold->parts, m->misfit);
    m->answered(hold);
}

static void go_on(struct pdk__mixture *m)
{
    m->step++;
    int rc = m->misfit[0] != '\0' ? 1 : ask(m);
    if (rc != 0)
        finish(m, rc > 0);
}

/* --- the answers ------------------------------------------------------------------------------------------------- */

/* A permit of another session, or NULL. */
static const char *other_permit(const struct pdk__mixture *m, const struct pdk__event *ev)
{
    for (size_t i = 0; i < ev->n_children; i++) {
        struct pdk__name name = pdk__name_parse(ev->children[i]);
        if (name.kind == PDK__NAME_OURS && name.tag == PDK__TAG_PERMIT && name.session != m->session)
            return ev->children[i];
    }
    return NULL;
}

static void note_misfit(struct pdk__mixture *m, const char *misfit)
{
    if (misfit != NULL)
        pdk__standing_describe_misfit(misfit, m->misfit, sizeof m->misfit);
    go_on(m);
}

static void read_limit(struct pdk__mixture *m, const char *permit)
{
    char *node = permit != NULL ? pdk__join(m->hold->sites.path, permit) : NULL;
    if (node == NULL || pdk__wire_identify_data(&m->wire, m->op, node) != 0)
        finish(m, permit == NULL);
    pdk__free(node);
}

static void note_limit(struct pdk__mixture *m, int64_t limit)
{
    size_t ours = m->hold->wish->rule->admits;
    if (limit > 0 && (size_t)limit != ours)
        snprintf(m->misfit, sizeof m->misfit, "contenders have different limits: %lld in another's permit, %zu here",
                 (long long)limit, ours);
    finish(m, true);
}

/* A path that may not be read is not known to have a mixture. */
static void replied(struct pdk__wire *wire, const struct pdk__wire_reply *reply)
{
    struct pdk__mixture *m = PDK__MEMBER(wire, struct pdk__mixture, wire);
    const struct pdk__event *ev = &reply->event;
    if (ev->outcome == PDK__UNKNOWN)
        finish(m, false);
    else if (ev->kind == PDK__EV_IDENTIFIED)
        note_limit(m, reply->limit);
    else if (is_semaphore(m->hold) && m->step > 0)
        read_limit(m, m->hold->object->limit_follows ? NULL : other_permit(m, ev));
    else
        note_misfit(m, pdk__rule_misfit(m->hold->wish->rule, ev->children, ev->n_children));
}

/* --- the judgement ----------------------------------------------------------------------------------------------- */

static bool needed(const struct pdk__hold *hold)
{
    if (is_semaphore(hold))
        return !hold->object->unmixed;
    for (unsigned i = 0; i < hold->sites.n; i++)
        if (has_parts(hold, i))
            return true;
    return false;
}

static struct pdk__mixture *make(struct pdk__hold *hold, void (*answered)(struct pdk__hold *hold))
{
    struct pdk__mixture *m = pdk__alloc(sizeof *m);
    if (m != NULL) {
        m->hold = hold;
        m->answered = answered;
        pdk__wire_begin(&m->wire, pdk__hold_client(hold), replied);
    }
    return m;
}

/* Unless it is known, or a question is under way. */
static int start(struct pdk__mixture *m)
{
    int64_t session = m->wire.client->session.id;
    if (m->known || (m->op != 0 && m->session == session))
        return 0;
    pdk__wire_end(&m->wire);
    m->session = session;
    m->step = 0;
    int rc = ask(m);
    if (rc != 0)
        m->op = 0;
    return rc;
}

int pdk__mixture_judge(struct pdk__hold *hold, void (*answered)(struct pdk__hold *hold))
{
    if (hold->mixture == NULL && !needed(hold))
        return 0;
    if (hold->mixture == NULL)
        hold->mixture = make(hold, answered);
    struct pdk__mixture *m = hold->mixture;
    int rc = m != NULL ? start(m) : PDK_ENOMEM;
    if (!hold->unmixed || rc != 0)
        return hold->unmixed ? rc : 0;
    if (m->misfit[0] == '\0')
        return m->known ? 0 : 1;
    hold->blamed = hold->parts;
    pdk__text_set(&hold->parts->why, m->misfit);
    return PDK_EMIXED;
}

void pdk__mixture_free(struct pdk__mixture *m)
{
    if (m == NULL)
        return;
    pdk__wire_end(&m->wire);
    pdk__free(m);
}
