#include "cli/wire.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

int pdk__cli_wire_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

void pdk__cli_wire_send(int fd, const struct pdk__cli_note *note)
{
    ssize_t n;
    do
        n = send(fd, note, sizeof *note, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
}

int pdk__cli_wire_receive(int fd, struct pdk__cli_note *note)
{
    ssize_t n;
    do
        n = recv(fd, note, sizeof *note, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *note)
        return 0;
    note->text[sizeof note->text - 1] = '\0';
    return 1;
}
