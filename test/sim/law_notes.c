/* A write under guard that is answered 0 was committed; one that was refused never is; and no writer comes after a
 * later one of its path. */
#include "test/sim/laws.h"
#include <paddock/error.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 4096 };

static struct note {
    const struct client *client;
    int path;
    int64_t token;
    bool committed;
    int rc;
    bool ended;
} notes[NOTES_MAX];
static int n_notes;
static int64_t newest[PATHS];

static void begin(struct world *w)
{
    (void)w;
    n_notes = 0;
    memset(newest, 0, sizeof newest);
}

int law_notes_begin(const struct client *c, int path, int64_t token)
{
    if (n_notes == NOTES_MAX)
        abort();
    notes[n_notes] = (struct note){.client = c, .path = path, .token = token};
    return n_notes++;
}

static bool refused(int rc) { return rc != 0 && rc != PDK_EUNKNOWN; }

static void judge(struct world *w, int i)
{
    if (notes[i].ended && notes[i].committed && refused(notes[i].rc))
        world_break(w, law_notes.name, "note %d was answered %s, and is written", i, pdk_strerrorname(notes[i].rc));
    if (notes[i].ended && !notes[i].committed && notes[i].rc == 0)
        world_break(w, law_notes.name, "note %d was answered 0, and is not written", i);
}

void law_notes_end(struct world *w, int note, int rc)
{
    if (notes[note].ended)
        world_break(w, law_notes.name, "note %d is answered twice", note);
    notes[note].ended = true;
    notes[note].rc = rc;
    if (rc == PDK_ELOST)
        see(SIGHT_GUARD_REFUSED);
    judge(w, note);
}

static void committed(struct world *w, const struct txn *txn)
{
    if (txn->kind != TXN_WRITE || txn->path != NOTE_PATH)
        return;
    int i = atoi(txn->text);
    if (i < 0 || i >= n_notes || notes[i].committed)
        world_break(w, law_notes.name, "note %d is written twice, or was never to be", i);
    notes[i].committed = true;
    judge(w, i);
    int path = notes[i].path;
    if (path >= 0 && notes[i].token < newest[path])
        world_break(w, law_notes.name, "note %d, of token %llx, is written after one of %llx", i,
                    (unsigned long long)notes[i].token, (unsigned long long)newest[path]);
    else if (path >= 0)
        newest[path] = notes[i].token;
}

int law_notes_unanswered(void)
{
    for (int i = 0; i < n_notes; i++)
        if (!notes[i].ended && !notes[i].client->dead)
            return i;
    return -1;
}

static void finished(struct world *w)
{
    if (law_notes_unanswered() >= 0)
        world_break(w, law_notes.name, "note %d has no answer", law_notes_unanswered());
}

const struct law law_notes = {.name = "notes", .begin = begin, .committed = committed, .finished = finished};
