/*
 * A TCP proxy before one ZooKeeper server, on a thread of the test. It parses the frames it carries, so that it can
 * cut, swallow, hold or delay exactly the request, or the reply, that a test names. On links between servers it carries
 * bytes without parsing them.
 *
 * All functions may be called from any thread. A change is in effect when its call returns: after pdk__proxy_hold() no
 * byte goes that way. Running out of memory or descriptors aborts the test.
 */
#ifndef PDK__TEST_PROXY_H
#define PDK__TEST_PROXY_H

#include "test/lib/frame.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct pdk__proxy pdk__proxy;

typedef enum pdk__direction { PDK__TO_SERVER = 0, PDK__TO_CLIENT = 1 } pdk__direction;

/* An action on a request, or on its reply. A cut ends the connection on both sides: bytes before the frame still
 * arrive, bytes after it do not. */
typedef enum pdk__act {
    PDK__CUT_BEFORE,        /* the server never sees the request */
    PDK__CUT_AFTER_FORWARD, /* the server sees it; whether it acted is not known */
    PDK__CUT_BEFORE_REPLY,  /* the server answered, the client does not receive it */
    PDK__CUT_AFTER_REPLY,   /* the client receives the reply, and nothing after it */
    PDK__SWALLOW_REQUEST,   /* the connection stays */
    PDK__SWALLOW_REPLY,
    PDK__HOLD_REQUEST, /* this request and all after it on its connection wait for pdk__proxy_release() */
    PDK__HOLD_REPLY,
    PDK__DELAY_REPLY, /* by MS; everything after it waits, too */
    PDK__ANSWER,      /* with ERROR, in the order of requests; the server sees a read of "/" instead */
    PDK__COUNT        /* nothing */
} pdk__act;

/* Acts on the NTH matching request (0 and 1: the first) of all connections; once, or from then on. */
struct pdk__proxy_rule {
    int op;           /* 0: any but ping and connect */
    const char *path; /* a part of the path (of a multi: of anything in it); NULL: any. Copied */
    int nth;
    pdk__act act;
    int ms;
    int error;
    bool every;
};

/* A proxy on a free port of the loopback interface, before the server on port TARGET there. AS_BYTES: frames are not
 * parsed, and rules do nothing. The caller frees. */
pdk__proxy *pdk__proxy_new(int target, bool as_bytes);
pdk__proxy *pdk__proxy_new_to(const char *address, int target, bool as_bytes); /* of another host, "192.0.2.1" */
void pdk__proxy_free(pdk__proxy *p);

int pdk__proxy_port(pdk__proxy *p);

/* Set a rule; returns its number. At most 64 until pdk__proxy_clear(). The first that matches a request acts. */
int pdk__proxy_rule(pdk__proxy *p, const struct pdk__proxy_rule *rule);

/* How often the rule has acted; with one about a reply, when the reply came. */
int pdk__proxy_hits(pdk__proxy *p, int rule);

/* Forward what the rule holds. The rule acts no more. */
void pdk__proxy_release(pdk__proxy *p, int rule);

/* Delete all rules, holds and delays, and accept connections again. Counters stay. */
void pdk__proxy_clear(pdk__proxy *p);

/* On all connections, later ones included, nothing goes this way until HOLD is false again. */
void pdk__proxy_hold(pdk__proxy *p, pdk__direction d, bool hold);

/* On all connections, bytes that come from now on arrive MS later. */
void pdk__proxy_delay(pdk__proxy *p, pdk__direction d, int ms);

/* Refuse new connections, or accept them again. Existing connections stay. */
void pdk__proxy_refuse(pdk__proxy *p, bool refuse);

/* Servers that resume no session give it a password of zeros: do later handshakes look like theirs? */
void pdk__proxy_strip_password(pdk__proxy *p, bool strip);

/* End all connections now; what is held is lost. */
void pdk__proxy_cut(pdk__proxy *p);

/* Later connections go to port TARGET. */
void pdk__proxy_set_target(pdk__proxy *p, int target);

/* Counters, since the start or the last reset. OP 0: all but pings. */
int pdk__proxy_requests(pdk__proxy *p, int op);
int pdk__proxy_replies(pdk__proxy *p, int op);
int pdk__proxy_writes(pdk__proxy *p);      /* requests that a quorum logs; not those for sessions */
int pdk__proxy_connections(pdk__proxy *p); /* that exist now */

/* Notifications of watches sent by the server: of EVENT (0: any), for paths that contain PATH (NULL: any). */
int pdk__proxy_events(pdk__proxy *p, int event, const char *path);
void pdk__proxy_reset_counters(pdk__proxy *p);

/* The frames since the last reset, without pings, as text: "create2 list =create2 =list !deleted ". A reply has "="
 * (and its error, when there is one: "=create2:-101"), a notification "!". At most SIZE bytes with the NUL. Returns the
 * length of the whole. */
size_t pdk__proxy_story(pdk__proxy *p, char *buf, size_t size);

#endif
