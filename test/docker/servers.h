/*
 * The ensemble of a fault test: faults, by docker/fault; and the truth as its servers have it, past our library.
 *
 * A call that cannot do its work fails the test.
 */
#ifndef PDK__TEST_SERVERS_H
#define PDK__TEST_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVERS_SEEN_MAX = 16 };

/* The environment variable NAME, which docker/check sets. */
const char *servers_env(const char *name);

/* Do what docker/fault does with these words. Returns its first line of output, static until the next call. */
const char *pdk__fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The name of the server that the session is connected to now; "" when there is none. Static until the next call. */
const char *servers_server_of(int64_t session);

/* Does the server of this name (see docker/fault) serve clients now? Does it follow a leader, as far as it knows? */
bool servers_serves(const char *name);
bool servers_follows(const char *name);

/* The connect string of that server, or of all others, into HOSTS. */
void servers_hosts(const char *name, bool itself, char *hosts, size_t size);

/* A contender's node. */
struct pdk__seen {
    int64_t token, session;
};

/* The nodes under PATH in their order, the holder's first, as a quorum has them. Returns how many; a path that does not
 * exist has none. */
size_t servers_look(const char *path, struct pdk__seen seen[static SERVERS_SEEN_MAX]);

/*
 * A process with a session of its own that writes a little, all the time, until the test program ends or says stop:
 * ZooKeeper 3.8.0 may let the only client of a quorum wait until the next commit of another (ZOOKEEPER-4537). Its
 * session is shorter than that of test/lib/beat.h: here servers fall silent, and it must soon be heard from another.
 */
void servers_beat(void);
void servers_beat_stop(void);

#endif
