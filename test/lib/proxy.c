#include "test/lib/proxy_state.h"

#include "server/words.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static noreturn void die(const char *what)
{
    perror(what);
    abort();
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

/* A port that was just free may be another process's by now. Then choose another one. */
static void choose_port(struct pdk__proxy *p)
{
    for (int tries = 0; tries < 100; tries++) {
        p->port = pdk__server_free_port();
        p->listener = pdk__server_hold_port(p->port);
        if (p->listener >= 0)
            return;
    }
    die("proxy: port");
}

static void hold_port(struct pdk__proxy *p)
{
    p->listener = pdk__server_hold_port(p->port);
    if (p->listener < 0)
        die("proxy: port");
}

/* The proxy refuses by having no listener, so that a client sees what a dead server shows it. The port stays ours. */
static void obey(struct pdk__proxy *p)
{
    if (p->refuse && p->listens) {
        close(p->listener);
        hold_port(p);
    } else if (!p->refuse && !p->listens && listen(p->listener, 64) != 0) {
        die("proxy: listen");
    }
    p->listens = !p->refuse;
    for (struct connection **at = &p->connections; *at != NULL;) {
        struct connection *c = *at;
        if (p->cut_all || pdk__proxy_is_over(c)) {
            *at = c->next;
            pdk__proxy_drop(c);
        } else {
            at = &c->next;
        }
    }
    p->cut_all = false;
}

/* Send what is due. Returns the milliseconds until the next chunk is due, as poll() takes them. */
static int work(struct pdk__proxy *p)
{
    int64_t next = p->knock_ms != 0 ? p->knock_ms : INT64_MAX;
    for (struct connection *c = p->connections; c != NULL; c = c->next) {
        for (int d = 0; d < 2; d++) {
            pdk__proxy_send(p, c, (pdk__direction)d);
            if (c->way[d].head != NULL && c->way[d].head->due_ms > 0 && c->way[d].head->due_ms < next && !p->hold[d])
                next = c->way[d].head->due_ms;
        }
        if (c->cut && c->give_up < next)
            next = c->give_up;
    }
    int64_t left = next == INT64_MAX ? -1 : next - pdk__proxy_now_ms();
    return next == INT64_MAX ? -1 : left > 1 ? (int)left : 1;
}

/* Two entries for each connection; -1 where no event is wanted, since poll() reports a hang-up unasked. */
static size_t watch(const struct pdk__proxy *p, struct pollfd **polled, size_t *cap)
{
    size_t n = 2;
    *polled = pdk__test_grow(*polled, 2, cap, sizeof **polled);
    (*polled)[0] = (struct pollfd){.fd = p->wake, .events = POLLIN};
    bool open = p->listens && p->knock_ms <= pdk__proxy_now_ms();
    (*polled)[1] = (struct pollfd){.fd = open ? p->listener : -1, .events = POLLIN};
    for (const struct connection *c = p->connections; c != NULL; c = c->next) {
        *polled = pdk__test_grow(*polled, n + 2, cap, sizeof **polled);
        for (int side = 0; side < 2; side++) {
            const struct way *from = &c->way[side], *to = &c->way[!side];
            int events = from->ended ? 0 : POLLIN;
            if (to->head != NULL && !pdk__proxy_blocked(p, to->head, (pdk__direction)!side))
                events |= POLLOUT;
            (*polled)[n++] = (struct pollfd){.fd = events != 0 ? c->fd[side] : -1, .events = (short)events};
        }
    }
    return n;
}

static void receive(struct pdk__proxy *p, const struct pollfd *polled, size_t n)
{
    size_t i = 2;
    uint64_t times;
    if (polled[0].revents != 0 && read(p->wake, &times, sizeof times) < 0)
        die("proxy: wake");
    for (struct connection *c = p->connections; c != NULL && i < n; c = c->next)
        for (int d = 0; d < 2; d++, i++)
            if ((polled[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0 && !c->way[d].ended)
                pdk__proxy_receive(p, c, (pdk__direction)d);
    if (polled[1].revents != 0)
        pdk__proxy_accept(p);
}

static void *loop(void *arg)
{
    struct pdk__proxy *p = arg;
    struct pollfd *polled = NULL;
    size_t cap = 0;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        obey(p);
        int timeout_ms = work(p);
        size_t n = watch(p, &polled, &cap);
        p->answered = p->asked;
        pthread_cond_broadcast(&p->turned);
        pthread_mutex_unlock(&p->lock);
        int ready = poll(polled, n, timeout_ms);
        pthread_mutex_lock(&p->lock);
        if (ready > 0)
            receive(p, polled, n);
    }
    pthread_mutex_unlock(&p->lock);
    free(polled);
    return NULL;
}

/* --- making one -------------------------------------------------------------------------------------------------- */

/* The proxy's thread blocks all signals; they go to the test's threads. */
static void start(struct pdk__proxy *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&p->thread, NULL, loop, p) != 0)
        die("proxy: thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

pdk__proxy *pdk__proxy_new(int target, bool as_bytes) { return pdk__proxy_new_to("127.0.0.1", target, as_bytes); }

pdk__proxy *pdk__proxy_new_to(const char *address, int target, bool as_bytes)
{
    struct pdk__proxy *p = calloc(1, sizeof *p);
    if (p == NULL)
        die("proxy");
    p->target = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)target)};
    if (inet_pton(AF_INET, address, &p->target.sin_addr) != 1)
        die("proxy: address");
    p->as_bytes = as_bytes;
    if (!as_bytes && getenv("PADDOCK_TEST_JITTER") != NULL)
        p->jitter_ms = atoi(getenv("PADDOCK_TEST_JITTER"));
    p->dice = (unsigned)getpid();
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->wake < 0)
        die("proxy: eventfd");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->turned, NULL);
    choose_port(p);
    obey(p);
    start(p);
    return p;
}

static void kick(struct pdk__proxy *p)
{
    uint64_t one = 1;
    if (write(p->wake, &one, sizeof one) != sizeof one)
        die("proxy: wake");
}

void pdk__proxy_free(pdk__proxy *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    kick(p);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    p->cut_all = p->refuse = true;
    obey(p);
    close(p->listener);
    pdk__proxy_clear_rules(p);
    pdk__proxy_forget(p);
    free(p->events);
    free(p->story);
    close(p->wake);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->turned);
    free(p);
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

static void begin(struct pdk__proxy *p) { pthread_mutex_lock(&p->lock); }

/* Wait for a turn of the loop that began after the order: then it has taken effect. */
static void carry_out(struct pdk__proxy *p)
{
    uint64_t mine = ++p->asked;
    kick(p);
    while (p->answered < mine)
        pthread_cond_wait(&p->turned, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

int pdk__proxy_port(pdk__proxy *p) { return p->port; }

int pdk__proxy_rule(pdk__proxy *p, const struct pdk__proxy_rule *rule)
{
    begin(p);
    if (p->n_rules == MAX_RULES)
        die("proxy: too many rules");
    int i = p->n_rules++;
    p->rules[i] = (struct rule){.is = *rule, .armed = true};
    p->rules[i].is.nth = rule->nth > 0 ? rule->nth : 1;
    if (rule->path != NULL && (p->rules[i].path = strdup(rule->path)) == NULL)
        die("proxy: rule");
    p->rules[i].is.path = p->rules[i].path;
    carry_out(p);
    return i;
}

void pdk__proxy_release(pdk__proxy *p, int rule)
{
    begin(p);
    p->rules[rule].armed = p->rules[rule].holding = false;
    carry_out(p);
}

void pdk__proxy_clear(pdk__proxy *p)
{
    begin(p);
    pdk__proxy_clear_rules(p);
    p->hold[0] = p->hold[1] = p->refuse = false;
    p->delay_ms[0] = p->delay_ms[1] = 0;
    carry_out(p);
}

void pdk__proxy_hold(pdk__proxy *p, pdk__direction d, bool hold)
{
    begin(p);
    p->hold[d] = hold;
    carry_out(p);
}

void pdk__proxy_delay(pdk__proxy *p, pdk__direction d, int ms)
{
    begin(p);
    p->delay_ms[d] = ms;
    carry_out(p);
}

void pdk__proxy_refuse(pdk__proxy *p, bool refuse)
{
    begin(p);
    p->refuse = refuse;
    carry_out(p);
}

void pdk__proxy_strip_password(pdk__proxy *p, bool strip)
{
    begin(p);
    p->strips = strip;
    carry_out(p);
}

void pdk__proxy_cut(pdk__proxy *p)
{
    begin(p);
    p->cut_all = true;
    carry_out(p);
}

void pdk__proxy_set_target(pdk__proxy *p, int target)
{
    begin(p);
    p->target.sin_port = htons((uint16_t)target);
    carry_out(p);
}
