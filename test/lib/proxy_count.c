/* The proxy's counters, and the functions by which a test reads them. */
#include "test/lib/proxy_state.h"

#include <stdlib.h>
#include <string.h>

static int total(const int counters[N_OPS], int op)
{
    int sum = 0;
    if (op != 0)
        return counters[(unsigned char)op];
    for (int i = 0; i < N_OPS; i++)
        sum += i != PDK__OP_PING ? counters[i] : 0;
    return sum;
}

int pdk__proxy_requests(pdk__proxy *p, int op)
{
    pthread_mutex_lock(&p->lock);
    int n = total(p->requests, op);
    pthread_mutex_unlock(&p->lock);
    return n;
}

int pdk__proxy_writes(pdk__proxy *p)
{
    static const int ops[] = {PDK__OP_CREATE, PDK__OP_CREATE2, PDK__OP_CREATE_CONTAINER, PDK__OP_MULTI, PDK__OP_SET,
                              PDK__OP_DELETE, PDK__OP_PROOF};
    int n = 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        n += pdk__proxy_requests(p, ops[i]);
    return n;
}

int pdk__proxy_replies(pdk__proxy *p, int op)
{
    pthread_mutex_lock(&p->lock);
    int n = total(p->replies, op);
    pthread_mutex_unlock(&p->lock);
    return n;
}

int pdk__proxy_connections(pdk__proxy *p)
{
    int n = 0;
    pthread_mutex_lock(&p->lock);
    for (const struct connection *c = p->connections; c != NULL; c = c->next)
        n += !c->cut;
    pthread_mutex_unlock(&p->lock);
    return n;
}

int pdk__proxy_hits(pdk__proxy *p, int rule)
{
    pthread_mutex_lock(&p->lock);
    int n = p->rules[rule].hits;
    pthread_mutex_unlock(&p->lock);
    return n;
}

int pdk__proxy_events(pdk__proxy *p, int event, const char *path)
{
    int n = 0;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n_events; i++)
        n += (event == 0 || p->events[i].type == event) && (path == NULL || strstr(p->events[i].path, path) != NULL);
    pthread_mutex_unlock(&p->lock);
    return n;
}

size_t pdk__proxy_story(pdk__proxy *p, char *buf, size_t size)
{
    pthread_mutex_lock(&p->lock);
    size_t n = p->n_story, m = n + 1 < size ? n : size - 1;
    if (m > 0)
        memcpy(buf, p->story, m);
    buf[m] = '\0';
    pthread_mutex_unlock(&p->lock);
    return n;
}

void pdk__proxy_forget(struct pdk__proxy *p)
{
    for (size_t i = 0; i < p->n_events; i++)
        free(p->events[i].path);
    p->n_events = p->n_story = 0;
    memset(p->requests, 0, sizeof p->requests);
    memset(p->replies, 0, sizeof p->replies);
}

void pdk__proxy_reset_counters(pdk__proxy *p)
{
    pthread_mutex_lock(&p->lock);
    pdk__proxy_forget(p);
    pthread_mutex_unlock(&p->lock);
}
