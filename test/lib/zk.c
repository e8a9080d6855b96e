#include "test/lib/zk.h"

#include "server/handshake.h"
#include "test/lib/check.h"
#include "test/lib/frame.h"
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MS = 20000, CONNECTED_MS = 60000 };

zhandle_t *pdk__zk_open(const char *hosts, int session_ms)
{
    zoo_set_debug_level((ZooLogLevel)0);
    zhandle_t *zh = zookeeper_init(hosts, NULL, session_ms, NULL, NULL, ZOO_NO_LOG_CLIENTENV);
    CHECK(zh != NULL);
    /* Otherwise the client resolves names all the time, and a child forked then finds the resolver's locks held. */
    zoo_set_servers_resolution_delay(zh, -1);
    CHECK_WITHIN(CONNECTED_MS, SEEN(zoo_state(zh)) == ZOO_CONNECTED_STATE);
    return zh;
}

/* --- reads that are answered ------------------------------------------------------------------------------------- */

static bool is_answer(int rc, const char *path)
{
    if (rc == ZOK || rc == ZNONODE)
        return true;
    pdk__test_saw_text("the answer", zerror(rc));
    if (rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT)
        pdk__test_fail(__FILE__, __LINE__, "reading %s: %s", path, zerror(rc));
    return false;
}

int pdk__zk_list(zhandle_t *zh, const char *path, struct String_vector *names)
{
    int rc;
    CHECK_WITHIN(CONNECTED_MS, is_answer(rc = zoo_get_children(zh, path, 0, names), path));
    if (rc != ZOK)
        *names = (struct String_vector){0};
    return rc;
}

int pdk__zk_stat(zhandle_t *zh, const char *path, struct Stat *stat)
{
    int rc;
    CHECK_WITHIN(CONNECTED_MS, is_answer(rc = zoo_exists(zh, path, 0, stat), path));
    return rc;
}

/* --- a session ended from outside -------------------------------------------------------------------------------- */

/* Read one frame, at most SIZE bytes of it. Returns its size, or -1. */
static long hear(int fd, unsigned char *frame, size_t size)
{
    size_t n = 0;
    long whole;
    while ((whole = pdk__frame_size(frame, n)) == 0 && n < size) {
        ssize_t got = recv(fd, frame + n, size - n, 0);
        if (got <= 0)
            return -1;
        n += (size_t)got;
    }
    return whole > 0 ? whole : -1;
}

/* Notifications of the session's watches may come before the reply. */
static int end(int fd)
{
    unsigned char out[4 + 8], in[65536];
    pdk__put32(out, 8);
    pdk__put32(out + 4, 1);
    pdk__put32(out + 8, PDK__OP_CLOSE);
    if (send(fd, out, sizeof out, MSG_NOSIGNAL) != sizeof out)
        return -1;
    long n = hear(fd, in, sizeof in);
    struct pdk__reply r;
    return n > 0 && pdk__frame_reply(in, (size_t)n, &r) && r.error == 0 ? 0 : -1;
}

/* Sets *UNKNOWN if the server has no such session. */
static int kill_once(int port, const clientid_t *id, bool *unknown)
{
    int rc = -1;
    int64_t session = id->client_id;
    int fd = pdk__server_dial(port, ANSWER_MS);
    if (fd < 0)
        return -1;
    if (pdk__handshake(fd, &session, id->passwd) == 0)
        rc = end(fd);
    *unknown = session == 0;
    close(fd);
    return rc;
}

int pdk__zk_kill_session(int port, const clientid_t *id)
{
    bool unknown;
    return kill_once(port, id, &unknown);
}

void pdk__zk_end_session(int port, const clientid_t *id)
{
    bool unknown = false;
    CHECK_WITHIN(CONNECTED_MS, kill_once(port, id, &unknown) == 0 || unknown);
}
