/*
 * The session as one contender sees it: by the last reports of session.h, and with the contender's phase.
 */
#ifndef PDK__SESSION_VIEW_H
#define PDK__SESSION_VIEW_H

#include "lib/core/phase.h"
#include "lib/core/verdict.h"

struct pdk__session_view {
    int64_t id;
    bool connected;
    bool lease_ok; /* the session is known to live for long enough */
    int64_t timeout_ms;
};

/* The session has ended, for this contender. */
void pdk__session_view_end(struct pdk__session_view *v);

/* An event of the session, in PHASE. HAS_NODE: our node exists, or may exist. ADVANCE, LOOK, CHECK, SUSPECT, RECOVER,
 * LOSE, REPLACE, EXPIRE, END, LEAVE or NONE. After REPLACE and the end of the old session the event is judged again. */
struct pdk__verdict pdk__session_view_judge(struct pdk__session_view *v, const struct pdk__event *ev,
                                            enum pdk__phase phase, bool has_node);

#endif
