/*
 * The keeper: a small shell process that owns a throwaway server's process and directory.
 *
 * It lives exactly as long as its end of a socket has a peer. That end closes when the keeper is asked to end, or when
 * this process has ended in any way (kill -9 included). Then the keeper kills the server and removes the directory.
 * PR_SET_PDEATHSIG would do neither: it follows the thread that forked, and cannot remove a directory.
 *
 * A child that is forked and does not exec has a copy of the socket: let it die with its parent.
 */
#ifndef PDK__SERVER_KEEPER_H
#define PDK__SERVER_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pdk__keeper {
    pid_t pid;      /* the shell */
    pid_t child;    /* the process that it runs, 0 while nothing runs */
    int fd;         /* our end of the socket */
    char dir[4096]; /* the directory it created and will remove; also the working directory of its child */
};

/* Start a keeper for ARGV (NULL-terminated, copied). Nothing of ARGV runs yet. 0, or -1 with errno;
 * ECHILD: it has ended, since it could make no directory. */
int pdk__keeper_open(struct pdk__keeper *k, char *const argv[]);

/* Run ARGV, with its output at the end of LOG (an absolute path). 0, or -1 with errno. */
int pdk__keeper_run(struct pdk__keeper *k, const char *log);

/* Is its child still there, and not a zombie? */
bool pdk__keeper_alive(const struct pdk__keeper *k);

/* Is every thread of the child stopped? A stopping signal reaches them one after the other. */
bool pdk__keeper_stopped(const struct pdk__keeper *k);

/* Once the child's death was seen or is certain: collect it. Until then no other process can have its process id, so
 * a signal to it is always safe. */
void pdk__keeper_reap(struct pdk__keeper *k);

/* Kill the child, remove the directory, and return when both are done. */
void pdk__keeper_close(struct pdk__keeper *k);

#endif
