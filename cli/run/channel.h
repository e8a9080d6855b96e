/*
 * The messages between the runner and the session of `paddock lock`, over a socket pair that keeps records apart. End
 * of file means that the other process is dead.
 */
#ifndef PDK_CLI_CHANNEL_H
#define PDK_CLI_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum pdk__cli_note_kind {
    /* from the session */
    NOTE_QUEUE,     /* text: the holder, and our place */
    NOTE_CONNECTED, /* the first time */
    NOTE_GRANTED,   /* token, session, text: the node's name */
    NOTE_SUSPECT,   /* the connection is lost */
    NOTE_HELD,      /* it is restored, and the lock is still ours */
    NOTE_LOST,
    NOTE_REVOKED,   /* another client asks for it */
    NOTE_SIGNAL,    /* status: a signal came, pid: from there */
    NOTE_SIGNALS,   /* the answer to NOTE_ASK: there are no more signals by now */
    NOTE_UNGUARDED, /* the answer to NOTE_AGAIN: the child's number is forgotten */
    NOTE_END,       /* status, text: why, or ""; lost. Nothing follows */
    /* to the session */
    NOTE_CHILD, /* pid: guard this process group */
    NOTE_ASK,   /* request the signals that came */
    NOTE_AGAIN, /* the child is dead, and another term is wanted after pause_ms */
    NOTE_LEAVE  /* the child is dead, with status, or lost with the lock; pid 0: there was none */
};

struct pdk__cli_note {
    enum pdk__cli_note_kind kind;
    int status;
    bool lost;
    pid_t pid;
    int64_t pause_ms;
    int64_t token;
    int64_t session;
    char text[768];
};

/* Two connected ends, close-on-exec. 0, or -1 with errno. */
int pdk__cli_channel_pair(int ends[2]);

/* Send. A note that the other end no longer accepts is dropped, because its reader will see the end of file. A note
 * about the present state is dropped, too, when the other end has left too many unread. */
void pdk__cli_channel_send(int fd, const struct pdk__cli_note *note);

/* Receive, waiting if necessary: 1, or 0 when the other end is closed, or what came is no note. */
int pdk__cli_channel_receive(int fd, struct pdk__cli_note *note);

#endif
