/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddock: distributed locks on ZooKeeper.
 *
 * Start with <paddock/client.h> (a session) and <paddock/lock.h> (what all locks have in common). Then choose:
 * <paddock/mutex.h> (one owner, of one path or several), <paddock/rwlock.h> (many readers, one writer),
 * <paddock/semaphore.h> (several permits), <paddock/leader.h> (one of many) or <paddock/barrier.h> (wait for each
 * other). <paddock/guarded.h> writes to ZooKeeper under a lock. <paddock/secure.h> has TLS, <paddock/stats.h> the
 * counters of a client. Each header begins with its caveats.
 * All objects are opaque; options are set by setters; results are 0 or a negative PDK_E… of <paddock/error.h>.
 */
#ifndef PADDOCK_H
#define PADDOCK_H

#include <paddock/barrier.h>
#include <paddock/client.h>
#include <paddock/contenders.h>
#include <paddock/error.h>
#include <paddock/guarded.h>
#include <paddock/leader.h>
#include <paddock/lock.h>
#include <paddock/log.h>
#include <paddock/mutex.h>
#include <paddock/once.h>
#include <paddock/rwlock.h>
#include <paddock/secure.h>
#include <paddock/semaphore.h>
#include <paddock/stats.h>
#include <paddock/version.h>

#endif
