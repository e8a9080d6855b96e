/*
 * The lease of a session: until when a holder may believe, and the requests that renew it.
 */
#ifndef PDK__LEASE_H
#define PDK__LEASE_H

#include "lib/core/session.h"

/* Is there a lease, running or run out? */
bool pdk__lease_known(const struct pdk__session *s);

/* From when on too little time is left; INT64_MIN when there is no lease. */
int64_t pdk__lease_doubt_ms(const struct pdk__session *s);

/* Report doubt, and the end of belief. Before any event, the passing of time is taken into account, because the thread
 * that brings the event may be late. */
void pdk__lease_notice_time(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out);

/* Report that there is enough time again. */
void pdk__lease_notice_renewal(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out);

/* When the next request is due; PDK__NEVER for never. Then ask. */
int64_t pdk__lease_due_ms(const struct pdk__session *s);
void pdk__lease_ask_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out);

/* The events ANSWERED, UNASKED, LEASE_NEEDED and LEASE_UNNEEDED. */
void pdk__lease_answered(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out);
void pdk__lease_unasked(struct pdk__session *s, const struct pdk__session_event *ev);
void pdk__lease_need(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out);

/* Proofs no longer come in a row. */
void pdk__lease_stem(struct pdk__session *s);

#endif
