/* The picture: the times of holding, a lane for each client, a row for each minute, faults as bands in the
 * background. */
#include "test/chaos/report.h"

#include <paddock/mutex.h>

enum { LEFT = 70, WIDTH = 1440, LANE = 16, HEAD = 22, ROW_S = 60 };

struct drawing {
    FILE *out;
    const struct evidence *e;
    double row_from_s; /* of the row that is being drawn */
    double top;
};

static double lane_top(const struct drawing *d, int place) { return d->top + HEAD + place * LANE; }

static double bottom(const struct drawing *d) { return lane_top(d, (int)d->e->n_clients); }

/* The part of [FROM, UNTIL] that lies in this row, as x and width; false: none does. */
static bool clip(const struct drawing *d, int64_t from_ns, int64_t until_ns, double *x, double *w)
{
    double a = at(d->e, from_ns) - d->row_from_s,
           b = at(d->e, until_ns == NEVER ? d->e->end_ns : until_ns) - d->row_from_s;
    if (b < 0 || a > ROW_S || b < a)
        return false;
    a = a < 0 ? 0 : a;
    b = b > ROW_S ? ROW_S : b;
    *x = LEFT + a * WIDTH / ROW_S;
    *w = (b - a) * WIDTH / ROW_S;
    return true;
}

static void band(const struct drawing *d, const char *class, int64_t from_ns, int64_t until_ns, double y, double h,
                 const char *title)
{
    double x, w;
    if (!clip(d, from_ns, until_ns, &x, &w))
        return;
    fprintf(d->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", class, x, y,
            w < 0.4 ? 0.4 : w, h);
    if (title != NULL)
        fprintf(d->out, "<title>%s</title>", title);
    fprintf(d->out, "</rect>\n");
}

/* --- faults ------------------------------------------------------------------------------------------------------ */

static void draw_strike(const struct drawing *d, const struct strike *s)
{
    char title[160];
    if (!s->took)
        return;
    snprintf(title, sizeof title, "%s, %.3f s to %.3f s", fault_name(s->id), at(d->e, s->from_ns),
             at(d->e, s->until_ns));
    enum fault_sort sort = fault_sort(s->id);
    if (sort == SORT_CLIENT && s->victim >= 0)
        band(d, "cf", s->from_ns, s->until_ns, lane_top(d, s->victim), LANE - 1, title);
    else if (sort == SORT_SERVER)
        band(d, "sf", s->from_ns, s->until_ns, d->top + 4, bottom(d) - d->top - 4, title);
    else
        band(d, "af", s->from_ns, s->until_ns, d->top + 4, bottom(d) - d->top - 4, title);
}

static void draw_stops(const struct drawing *d)
{
    for (size_t i = 0; i < d->e->stops.n; i++)
        for (size_t j = 0; j < d->e->processes.n; j++)
            if (d->e->processes.list[j].pid == d->e->stops.list[i].pid)
                band(d, "stop", d->e->stops.list[i].from_ns, d->e->stops.list[i].until_ns,
                     lane_top(d, d->e->processes.list[j].place), LANE - 1, "stopped");
}

/* --- clients ----------------------------------------------------------------------------------------------------- */

static const char *class_of(int state) { return state == PDK_SUSPECT ? "suspect" : "held"; }

static void draw_grant(const struct drawing *d, const struct request *r, double y)
{
    int64_t end = grant_end_ns(d->e, r), from = r->answered_ns;
    int state = PDK_HELD;
    char title[160];
    snprintf(title, sizeof title, "%s, token %llx, %.3f s to %.3f s%s", who(d->e, r), (unsigned long long)r->token,
             at(d->e, r->answered_ns), at(d->e, end), r->lost_ns <= end ? ", lost" : "");
    for (size_t i = 0; i < r->n_told; i++) {
        if (r->told[i].state == state || r->told[i].ns >= end || r->told[i].ns < from)
            continue;
        band(d, class_of(state), from, r->told[i].ns, y + 2, LANE - 5, title);
        from = r->told[i].ns;
        state = r->told[i].state;
    }
    band(d, class_of(state), from, end, y + 2, LANE - 5, title);
    if (r->lost_ns <= end)
        band(d, "lost", r->lost_ns, r->lost_ns, y, LANE - 1, title);
}

static void draw_request(const struct drawing *d, const struct request *r)
{
    const struct process *p = &d->e->processes.list[r->process];
    double y = lane_top(d, p->place);
    int64_t end = r->answered_ns < p->killed_ns ? r->answered_ns : p->killed_ns;
    band(d, "wait", r->asked_ns, end, y + LANE / 2 - 1, 1, NULL);
    if (r->n_answers > 0 && r->rc == 0)
        draw_grant(d, r, y);
}

static void draw_deaths(const struct drawing *d)
{
    for (size_t i = 0; i < d->e->processes.n; i++) {
        const struct process *p = &d->e->processes.list[i];
        double x, w;
        if (p->killed_ns != NEVER && clip(d, p->killed_ns, p->killed_ns, &x, &w))
            fprintf(d->out, "<text class=\"dead\" x=\"%.1f\" y=\"%.1f\">&#215;</text>\n", x - 5,
                    lane_top(d, p->place) + LANE - 3);
    }
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static void draw_scale(const struct drawing *d)
{
    for (int s = 0; s <= ROW_S; s += 10)
        fprintf(d->out, "<text class=\"t\" x=\"%d\" y=\"%.1f\">%.0f s</text><path class=\"t\" d=\"M%d %.1fV%.1f\"/>\n",
                LEFT + s * WIDTH / ROW_S + 2, d->top + HEAD - 6, d->row_from_s + s, LEFT + s * WIDTH / ROW_S,
                d->top + HEAD - 14, bottom(d));
    for (int i = 0; i < d->e->n_clients; i++)
        fprintf(d->out, "<text class=\"l\" x=\"4\" y=\"%.1f\">client %d</text>\n", lane_top(d, i) + LANE - 4, i);
}

static void draw_row(const struct drawing *d)
{
    draw_scale(d);
    for (size_t i = 0; i < d->e->strikes.n; i++)
        draw_strike(d, &d->e->strikes.list[i]);
    draw_stops(d);
    for (size_t i = 0; i < d->e->requests.n; i++)
        draw_request(d, &d->e->requests.list[i]);
    draw_deaths(d);
    if (d->e->healed_ns != NEVER)
        band(d, "healed", d->e->healed_ns, d->e->healed_ns, d->top + 4, bottom(d) - d->top - 4, "healed");
}

void draw_timeline(const struct evidence *e, FILE *out)
{
    int rows = (int)(at(e, e->end_ns) / ROW_S) + 1;
    double row = HEAD + (double)e->n_clients * LANE + 10;
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\">\n", LEFT + WIDTH + 20, rows * row);
    for (int i = 0; i < rows; i++)
        draw_row(&(struct drawing){.out = out, .e = e, .row_from_s = i * ROW_S, .top = i * row});
    fprintf(out, "</svg>\n");
}
