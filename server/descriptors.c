#include "server/descriptors.h"

#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#if !defined HAVE_CLOSEFROM || !defined HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
/* The highest number of an open descriptor; where there is no /proc, the highest that may be open. */
static int highest_open(void)
{
    int highest = -1;
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL)
        return (int)sysconf(_SC_OPEN_MAX) - 1;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (atoi(entry->d_name) > highest)
            highest = atoi(entry->d_name);
    closedir(dir);
    return highest;
}
#endif

#ifdef HAVE_CLOSEFROM
void pdk__close_from(int first) { closefrom(first); }
#else
void pdk__close_from(int first)
{
    for (int fd = highest_open(); fd >= first; fd--)
        close(fd);
}
#endif

#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
int pdk__spawn_close_from(posix_spawn_file_actions_t *actions, int first)
{
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
#else
int pdk__spawn_close_from(posix_spawn_file_actions_t *actions, int first)
{
    int rc = 0;
    for (int fd = highest_open(); rc == 0 && fd >= first; fd--)
        rc = posix_spawn_file_actions_addclose(actions, fd);
    return rc;
}
#endif
