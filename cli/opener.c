#include "cli/opener.h"
#include "cli/message.h"
#include "lib/assert.h"

#include <paddock/log.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct pdk__cli_opener {
    const char *hosts;
    const pdk_client_options *options;
    int done; /* an eventfd; 1 in it: the next two members are set */
    int rc;
    pdk_client *client;
    char why[PDK__CLI_WHY];
};

/* The log of the client. The command itself reports grants and the wait for them, so -v adds the failures. The log
 * runs in the loop that renews the lease, so a line is left out when it would have to wait for a reader. */
static void log_line(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    static const char *const names[] = {"none", "error", "warning", "info", "debug"};
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)c, (void)at_ms, (void)arg;
    if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0)
        pdk__cli_message("%s: %s", names[level], text);
}

static void set_log(const struct pdk__cli_options *o)
{
    if (o->verbose > 1)
        pdk_log_zookeeper(PDK_LOG_DEBUG);
    if (o->verbose > 0)
        pdk_client_options_set_log(o->client, o->verbose > 1 ? PDK_LOG_DEBUG : PDK_LOG_WARNING, log_line, NULL);
}

static void *run(void *arg)
{
    struct pdk__cli_opener *opener = arg;
    opener->rc = pdk_client_new(&opener->client, opener->hosts, opener->options);
    if (opener->rc == PDK_ETLS || opener->rc == PDK_EHOST) /* the text is kept per thread */
        pdk_client_last_error(NULL, opener->why, sizeof opener->why);
    eventfd_write(opener->done, 1); /* the last access: it may be freed from now on */
    return NULL;
}

struct pdk__cli_opener *pdk__cli_opener_begin(const struct pdk__cli_options *o)
{
    pthread_t thread;
    struct pdk__cli_opener *opener = calloc(1, sizeof *opener);
    if (opener == NULL)
        return NULL;
    set_log(o);
    pdk__cli_security_silence(&o->security);
    opener->hosts = o->hosts;
    opener->options = o->client;
    opener->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (opener->done >= 0 && pthread_create(&thread, NULL, run, opener) == 0 && pthread_detach(thread) == 0)
        return opener;
    if (opener->done >= 0)
        close(opener->done);
    free(opener);
    return NULL;
}

int pdk__cli_opener_fd(const struct pdk__cli_opener *opener) { return opener->done; }

bool pdk__cli_opener_take(struct pdk__cli_opener *opener, int *rc, pdk_client **c, char why[PDK__CLI_WHY])
{
    eventfd_t done;
    if (eventfd_read(opener->done, &done) != 0)
        return false;
    assert((opener->rc == 0) == (opener->client != NULL));
    *rc = opener->rc;
    *c = opener->client;
    memcpy(why, opener->why, PDK__CLI_WHY);
    close(opener->done);
    free(opener);
    return true;
}
