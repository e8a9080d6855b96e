/*
 * The contract of the machines with their driver: the events that may come to them in a state. Each step asserts it,
 * and the proof of the step (test/cbmc) assumes just that. It is what ZooKeeper's client and the driver see to: a
 * request is answered once, with the kind of reply that belongs to it, after those that were sent before it. It does
 * not bind the servers: a reply may say anything.
 */
#ifndef PDK__CONTRACT_H
#define PDK__CONTRACT_H

#include "lib/core/event.h"

struct pdk__barrier;
struct pdk__contender;
struct pdk__double_barrier;
struct pdk__session;
struct pdk__session_event;
struct pdk__stray;

bool pdk__contract_allows(const struct pdk__contender *c, const struct pdk__event *ev);
bool pdk__contract_allows_stray(const struct pdk__stray *s, const struct pdk__event *ev);
bool pdk__contract_allows_barrier(const struct pdk__barrier *b, const struct pdk__event *ev);
bool pdk__contract_allows_member(const struct pdk__double_barrier *b, const struct pdk__event *ev);
bool pdk__contract_allows_session(const struct pdk__session *s, const struct pdk__session_event *ev);

#endif
