#include "cli/run/channel.h"
#include "lib/assert.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

int pdk__cli_channel_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

/* A process that is stopped for long reads nothing. Then state reports must not keep the other process from its
 * work; the last note reports a loss again. */
static bool is_news(enum pdk__cli_note_kind kind)
{
    return kind == NOTE_QUEUE || kind == NOTE_SUSPECT || kind == NOTE_HELD || kind == NOTE_LOST ||
           kind == NOTE_REVOKED || kind == NOTE_SIGNAL || kind == NOTE_SIGNALS || kind == NOTE_ASK;
}

void pdk__cli_channel_send(int fd, const struct pdk__cli_note *note)
{
    assert(fd >= 0 && note->kind <= NOTE_LEAVE);
    int flags = MSG_NOSIGNAL | (is_news(note->kind) ? MSG_DONTWAIT : 0);
    ssize_t n;
    do
        n = send(fd, note, sizeof *note, flags);
    while (n < 0 && errno == EINTR);
}

int pdk__cli_channel_receive(int fd, struct pdk__cli_note *note)
{
    ssize_t n;
    do
        n = recv(fd, note, sizeof *note, MSG_TRUNC); /* as long as what was sent */
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *note || note->kind > NOTE_LEAVE || *(unsigned char *)&note->lost > 1)
        return 0;
    note->text[sizeof note->text - 1] = '\0';
    return 1;
}
