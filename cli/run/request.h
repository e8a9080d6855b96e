/*
 * The locks of one session, each requested under an id and reported as events on standard output.
 *
 *                ┌──────── failed ────────┐
 *   WAITING ──► HELD ──► RELEASING ──► ENDED
 *      └──► CANCELLING ──► failed, or HELD and RELEASING
 *
 * A request ends by exactly one of the events released, lost and failed, and its id may then be used again.
 */
#ifndef PDK_CLI_REQUEST_H
#define PDK_CLI_REQUEST_H

#include "cli/options.h"
#include "cli/run/line_output.h"
#include "lib/list.h"

struct pdk__cli_requests {
    struct pdk__list open;  /* those that have not ended */
    struct pdk__list ended; /* those whose lock is still to be freed */
    pdk_client *client;
    struct pdk__cli_line_output *output;
    int64_t look_ms; /* when the places in queues are next compared */
};

void pdk__cli_requests_begin(struct pdk__cli_requests *all, pdk_client *client, struct pdk__cli_line_output *output);

/* An event of the kind NAME, about ID; NULL: about none. */
json_t *pdk__cli_event(const char *name, json_t *id);

/* Is there a request under ID? */
bool pdk__cli_requests_have(const struct pdk__cli_requests *all, const json_t *id);

/* Request the lock that O chooses, under ID, which no open request has. */
void pdk__cli_request_lock(struct pdk__cli_requests *all, json_t *id, const struct pdk__cli_options *o);

/* The request under ID is refused before it is made, for the reason RC, which MESSAGE explains. */
void pdk__cli_request_refuse(struct pdk__cli_requests *all, json_t *id, int rc, const char *message);

/* Release or cancel the request under ID. False: there is none. A request that is ending goes on ending. */
bool pdk__cli_request_unlock(struct pdk__cli_requests *all, const json_t *id);

/* Report the state of the request under ID. */
void pdk__cli_request_state(const struct pdk__cli_requests *all, json_t *id);

/* Release and cancel all. */
void pdk__cli_requests_leave(struct pdk__cli_requests *all);

/* After the callbacks have run: free what has ended, and report changed places in queues. */
void pdk__cli_requests_step(struct pdk__cli_requests *all);

/* When a step is next of use; -1: after a callback alone. */
int64_t pdk__cli_requests_due(const struct pdk__cli_requests *all);

/* After the client was closed: free those that remain. */
void pdk__cli_requests_free(struct pdk__cli_requests *all);

#endif
