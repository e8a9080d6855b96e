/* What the interoperability tests share: a server, a client of ours, and a look at the queue. */
#ifndef PDK__INTEROP_INTEROP_H
#define PDK__INTEROP_INTEROP_H

#include "lib/server/throwaway.h"
#include <paddock.h>

/* LIMIT_MS is generous: only a test that fails spends it. */
enum { LIMIT_MS = 60000, LONG_SESSION_MS = 20000, SHORT_SESSION_MS = 2000 };

extern pdk__server *server;
extern pdk_client *ours;

void interop_set_up(void);
void interop_tear_down(void);

/* A client that is connected. */
pdk_client *new_client(int session_ms);

pdk_mutex *new_mutex(pdk_client *c, const char *path);

/* The contenders of PATH; free the list. */
pdk_contender_list *list(const char *path);

/* How many they are. */
size_t count(const char *path);

/* Every transaction has a number: as long as this one does not move, nobody has written. */
long long last_zxid(void);

/* turns.c */
void three_of_each_take_turns(void);

/* latches.c */
void ours_stands_while_curator_leads(void);
void curator_stands_while_ours_leads(void);
void a_killed_curator_leader_is_followed_by_ours(void);

#endif
