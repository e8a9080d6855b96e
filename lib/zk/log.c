#include "lib/zk/log.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/registry.h"
#include "lib/zk/tls.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RING = 256, TEXT_MAX = 400, TROUBLE_MAX = 200 };

struct line {
    pdk_log_level level;
    int64_t at_ms;
    char text[TEXT_MAX];
};

struct pdk__log {
    struct pdk_client *client;
    struct pdk__callback callback;
    int slot; /* the number of the function that ZooKeeper's client was given; -1: none */

    pthread_mutex_t lock; /* a leaf */
    struct line *ring;    /* NULL: the program does not listen */
    size_t first, n;
    unsigned lost;
    bool wakes;
    char trouble[TROUBLE_MAX];
    bool trouble_secure; /* TLS is the reason */
};

/* --- the ring ---------------------------------------------------------------------------------------------------- */

bool pdk__log_wants(const struct pdk_client *c, pdk_log_level level)
{
    return c->options.log_cb != NULL && level <= c->options.log_level;
}

static int64_t wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* With the log's lock. */
static void put(struct pdk__log *log, pdk_log_level level, const char *text)
{
    if (log->n == RING) {
        log->lost++;
        return;
    }
    assert(log->n < RING && log->first < RING);
    struct line *line = &log->ring[(log->first + log->n++) % RING];
    line->level = level;
    line->at_ms = wall_ms();
    snprintf(line->text, sizeof line->text, "%s", text);
    if (log->n == 1 && log->wakes)
        pdk__client_wake(log->client);
}

static void write_line(struct pdk_client *c, pdk_log_level level, const char *text)
{
    struct pdk__log *log = c->log;
    if (!pdk__log_wants(c, level))
        return;
    pthread_mutex_lock(&log->lock);
    put(log, level, text);
    pthread_mutex_unlock(&log->lock);
}

void pdk__log(struct pdk_client *c, pdk_log_level level, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    if (!pdk__log_wants(c, level))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_line(c, level, text);
}

/* --- to the callback --------------------------------------------------------------------------------------------- */

static bool take(struct pdk__log *log, struct line *line)
{
    bool any = true;
    assert(log->ring != NULL && !pdk__client_locked(log->client)); /* the callback must not meet the lock */
    pthread_mutex_lock(&log->lock);
    if (log->n > 0) {
        *line = log->ring[log->first];
        log->first = (log->first + 1) % RING;
        log->n--;
    } else if (log->lost > 0) {
        *line = (struct line){.level = PDK_LOG_WARNING, .at_ms = wall_ms()};
        snprintf(line->text, sizeof line->text, "log: %u lines were lost, for they were not taken in time", log->lost);
        log->lost = 0;
    } else {
        any = false;
    }
    pthread_mutex_unlock(&log->lock);
    return any;
}

/* Lines remain, and the line that would have woken the timers' thread was put before: wake it now. At the end of a
 * close there is no such thread, so a callback that makes lines does not get endless turns. */
static void wake_for_more(struct pdk__log *log)
{
    pthread_mutex_lock(&log->lock);
    if (log->wakes && (log->n > 0 || log->lost > 0))
        pdk__client_wake(log->client);
    pthread_mutex_unlock(&log->lock);
}

/* At most one ring of lines: a callback that makes more of them must leave the thread to others. */
static void run(struct pdk__callback *callback)
{
    struct pdk__log *log = PDK__MEMBER(callback, struct pdk__log, callback);
    struct pdk_client *c = log->client;
    struct line line;
    for (int i = 0; i <= RING && take(log, &line); i++)
        c->options.log_cb(c, line.level, line.at_ms, line.text, c->options.log_arg);
    wake_for_more(log);
}

static bool waiting(struct pdk__log *log)
{
    pthread_mutex_lock(&log->lock);
    bool any = log->n > 0 || log->lost > 0;
    pthread_mutex_unlock(&log->lock);
    return any;
}

void pdk__log_turn(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    if (waiting(c->log))
        pdk__client_queue_callback(c, &c->log->callback);
}

void pdk__log_flush(struct pdk_client *c)
{
    pdk__client_lock(c);
    pdk__log_turn(c);
    pdk__client_leave(c);
}

void pdk__log_wake(struct pdk_client *c, bool wake)
{
    pthread_mutex_lock(&c->log->lock);
    c->log->wakes = wake;
    pthread_mutex_unlock(&c->log->lock);
}

/* --- lines of ZooKeeper's client --------------------------------------------------------------------------------- */

/* "2026-01-01 00:00:00,000:4711(0x7f):ZOO_INFO@function@42: message" */
static const char *message_of(const char *line, pdk_log_level *level)
{
    const char *mark = strstr(line, ":ZOO_"), *message = NULL;
    *level = PDK_LOG_DEBUG;
    if (mark == NULL)
        return line;
    if (strncmp(mark, ":ZOO_ERROR@", 11) == 0 || strncmp(mark, ":ZOO_WARN@", 10) == 0)
        *level = PDK_LOG_WARNING;
    const char *function = strchr(mark, '@');
    const char *number = function != NULL ? strchr(function + 1, '@') : NULL;
    if (number != NULL)
        message = strstr(number, ": ");
    return message != NULL ? message + 2 : line;
}

/* "Socket [127.0.0.1:2181] zk retcode=-4, errno=111(Connection refused): server refused to accept the client". WHY: the
 * reason of TLS, or NULL. The client has EHOSTDOWN for a server that closed the connection. */
static bool describe_socket(const char *message, const char *why, char *text, size_t size)
{
    int number;
    char address[100], error[80];
    if (sscanf(message, "Socket %99s zk retcode=%*d, errno=%d(%79[^)])", address, &number, error) != 3)
        return false;
    if (number == EHOSTDOWN)
        snprintf(error, sizeof error, "connection closed");
    size_t n = strlen(address);
    bool bracketed = n > 2 && address[0] == '[' && address[n - 1] == ']';
    int length = (int)(bracketed ? n - 2 : n);
    error[0] = (char)tolower((unsigned char)error[0]);
    if (why != NULL)
        snprintf(text, size, "TLS with %.*s: %.90s", length, address + bracketed, why);
    else
        snprintf(text, size, "%s by %.*s", error, length, address + bracketed);
    return true;
}

/* "Failed to load client private key from FILE" */
static bool about_files(const char *message) { return strncmp(message, "Failed to load ", 15) == 0; }

static bool about_connecting(const char *message)
{
    static const char *const words[] = {"timed out", "getaddrinfo", "failed", "refused", "resolve"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(message, words[i]) != NULL)
            return true;
    return false;
}

/* Is MESSAGE a new one? The same trouble is reported several times a second while no server can be reached. */
static bool note_trouble(struct pdk_client *c, const char *message)
{
    char text[TROUBLE_MAX], why[TROUBLE_MAX];
    pdk__log_trouble(c, text, sizeof text);
    if (text[0] != '\0' && strstr(message, "getaddrinfo") != NULL)
        return false; /* it names no host, and what is known of another server tells more */
    bool secure = pdk__tls_why(why, sizeof why);
    if (!describe_socket(message, secure ? why : NULL, text, sizeof text)) {
        secure = about_files(message);
        if (!about_connecting(message) && !secure)
            return strstr(message, "Delaying connection") == NULL;
        snprintf(text, sizeof text, "%.*s", (int)strcspn(message, "\n"), message);
    }
    return pdk__log_set_trouble(c, text, secure);
}

static void on_line(struct pdk_client *c, const char *line)
{
    char text[TEXT_MAX];
    pdk_log_level level;
    const char *message = message_of(line, &level);
    if (level == PDK_LOG_WARNING && !note_trouble(c, message))
        level = PDK_LOG_DEBUG;
    if (!pdk__log_wants(c, level))
        return;
    snprintf(text, sizeof text, "zookeeper: %.*s", (int)strcspn(message, "\n"), message);
    write_line(c, level, text);
}

/*
 * ZooKeeper's client passes a line to a plain function, on any thread and without a context. So there are SLOTS
 * functions, one for each client that may have one, and each belongs to one client at a time. A slot is released with
 * the client's last reference: by then its handle is closed, and the handle's threads are joined.
 */
enum { SLOTS = 64 };
static atomic_uintptr_t slots[SLOTS];

static void deliver(int slot, const char *line)
{
    int error = errno; /* ZooKeeper's client may be about to return it */
    struct pdk_client *c = pdk__registry_find(atomic_load(&slots[slot]));
    if (c != NULL) {
        on_line(c, line);
        pdk__client_unref(c);
    }
    errno = error;
}

#define ONE(hex)                                                                                                       \
    static void slot_##hex(const char *line) { deliver(0x##hex, line); }
#define EIGHT(X, high) X(high##0) X(high##1) X(high##2) X(high##3) X(high##4) X(high##5) X(high##6) X(high##7)
#define OTHERS(X, high) X(high##8) X(high##9) X(high##a) X(high##b) X(high##c) X(high##d) X(high##e) X(high##f)
#define SIXTEEN(X, high) EIGHT(X, high) OTHERS(X, high)
SIXTEEN(ONE, 0)
SIXTEEN(ONE, 1)
SIXTEEN(ONE, 2)
SIXTEEN(ONE, 3)

#define NAME(hex) slot_##hex,
static const log_callback_fn functions[SLOTS] = {SIXTEEN(NAME, 0) SIXTEEN(NAME, 1) SIXTEEN(NAME, 2) SIXTEEN(NAME, 3)};

/* Without a function, the lines are thrown away: ZooKeeper's client would write a paragraph to stderr for every
 * connection. */
static void ignore(const char *line) { (void)line; }

log_callback_fn pdk__log_zookeeper(struct pdk_client *c)
{
    assert(c->id != 0 && c->log->slot < SLOTS);
    for (int i = 0; c->log->slot < 0 && i < SLOTS; i++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&slots[i], &none, c->id))
            c->log->slot = i;
    }
    return c->log->slot >= 0 ? functions[c->log->slot] : ignore;
}

bool pdk__log_set_trouble(struct pdk_client *c, const char *text, bool secure)
{
    struct pdk__log *log = c->log;
    pthread_mutex_lock(&log->lock);
    bool news = strncmp(log->trouble, text, sizeof log->trouble - 1) != 0;
    snprintf(log->trouble, sizeof log->trouble, "%s", text);
    log->trouble_secure = secure;
    pthread_mutex_unlock(&log->lock);
    return news;
}

bool pdk__log_trouble_secure(struct pdk_client *c)
{
    pthread_mutex_lock(&c->log->lock);
    bool secure = c->log->trouble[0] != '\0' && c->log->trouble_secure;
    pthread_mutex_unlock(&c->log->lock);
    return secure;
}

void pdk__log_trouble(struct pdk_client *c, char *buf, size_t size)
{
    pthread_mutex_lock(&c->log->lock);
    snprintf(buf, size, "%s", c->log->trouble);
    pthread_mutex_unlock(&c->log->lock);
}

void pdk__log_forget_trouble(struct pdk_client *c)
{
    pthread_mutex_lock(&c->log->lock);
    c->log->trouble[0] = '\0';
    pthread_mutex_unlock(&c->log->lock);
}

/* --- begin and end ----------------------------------------------------------------------------------------------- */

int pdk__log_begin(struct pdk_client *c)
{
    struct pdk__log *log = pdk__alloc(sizeof *log);
    if (log == NULL)
        return PDK_ENOMEM;
    if (c->options.log_cb != NULL && (log->ring = pdk__alloc(RING * sizeof *log->ring)) == NULL) {
        pdk__free(log);
        return PDK_ENOMEM;
    }
    log->client = c;
    log->slot = -1;
    log->callback.run = run;
    pdk__list_init(&log->callback.link);
    pthread_mutex_init(&log->lock, NULL);
    c->log = log;
    return 0;
}

void pdk__log_end(struct pdk_client *c)
{
    assert(c->log->slot < 0 || atomic_load(&slots[c->log->slot]) == c->id);
    if (c->log->slot >= 0)
        atomic_store(&slots[c->log->slot], 0);
    pthread_mutex_destroy(&c->log->lock);
    pdk__free(c->log->ring);
    pdk__free(c->log);
}

/* --- options ----------------------------------------------------------------------------------------------------- */

static bool valid(pdk_log_level level) { return (int)level >= PDK_LOG_NONE && level <= PDK_LOG_DEBUG; }

int pdk_client_options_set_log(pdk_client_options *o, pdk_log_level level, pdk_log_cb cb, void *arg)
{
    if (o == NULL || !valid(level))
        return PDK_EINVAL;
    o->log_level = level;
    o->log_cb = level != PDK_LOG_NONE ? cb : NULL;
    o->log_arg = arg;
    return 0;
}

int pdk_log_zookeeper(pdk_log_level level)
{
    if (!valid(level))
        return PDK_EINVAL;
    zoo_set_debug_level((ZooLogLevel)level); /* 0 is none there, too: no line has that level */
    return 0;
}
