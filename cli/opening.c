#include "cli/opening.h"
#include "cli/say.h"

#include <paddock/log.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct pdk__cli_opening {
    const char *hosts;
    const pdk_client_options *options;
    int done; /* an eventfd; 1 in it: the next two members are set */
    int rc;
    pdk_client *client;
};

/* The log of the client. The command itself reports grants and the wait for them, so -v adds the failures. The log
 * runs in the loop that renews the lease, so a line is left out when it would have to wait for a reader. */
static void say(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)c, (void)at_ms, (void)arg;
    if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0)
        pdk__cli_say("%s: %s", pdk_log_level_name(level), text);
}

static void set_log(const struct pdk__cli_options *o)
{
    if (o->debug)
        pdk_log_zookeeper(PDK_LOG_DEBUG);
    if (o->verbose)
        pdk_client_options_set_log(o->client, o->debug ? PDK_LOG_DEBUG : PDK_LOG_WARNING, say, NULL);
}

static void *run(void *arg)
{
    struct pdk__cli_opening *opening = arg;
    opening->rc = pdk_client_new(&opening->client, opening->hosts, opening->options);
    eventfd_write(opening->done, 1); /* the last access: it may be freed from now on */
    return NULL;
}

struct pdk__cli_opening *pdk__cli_opening_begin(const struct pdk__cli_options *o)
{
    pthread_t thread;
    struct pdk__cli_opening *opening = calloc(1, sizeof *opening);
    if (opening == NULL)
        return NULL;
    set_log(o);
    opening->hosts = o->hosts;
    opening->options = o->client;
    opening->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (opening->done >= 0 && pthread_create(&thread, NULL, run, opening) == 0 && pthread_detach(thread) == 0)
        return opening;
    if (opening->done >= 0)
        close(opening->done);
    free(opening);
    return NULL;
}

int pdk__cli_opening_fd(const struct pdk__cli_opening *opening) { return opening->done; }

bool pdk__cli_opening_take(struct pdk__cli_opening *opening, int *rc, pdk_client **c)
{
    eventfd_t done;
    if (eventfd_read(opening->done, &done) != 0)
        return false;
    *rc = opening->rc;
    *c = opening->client;
    close(opening->done);
    free(opening);
    return true;
}
