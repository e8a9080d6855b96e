/* Closing the descriptors that a new process must not inherit, also where the C library has no closefrom() (glibc
 * before 2.34, musl). */
#ifndef PDK__SERVER_DESCRIPTORS_H
#define PDK__SERVER_DESCRIPTORS_H

#include <spawn.h>

/* Close all descriptors from FIRST on. For a process with one thread. */
void pdk__close_from(int first);

/* Have the spawned process close all descriptors from FIRST on. Without help of the C library these are the ones
 * that are open now: one that another thread opens before the spawn is inherited, unless it is close-on-exec. 0, or
 * an error as of posix_spawn_file_actions_addclose(). */
int pdk__spawn_close_from(posix_spawn_file_actions_t *actions, int first);

#endif
