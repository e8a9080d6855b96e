/* The statistics as text. OpenMetrics names a counter without the "_total" of its samples, and Prometheus' text format
 * with it; only OpenMetrics has units, and an end. All else is the same in both. */
#include "lib/stats.h"

#include "paddock/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *buf;
    size_t size, n; /* of the whole text, also where it does not fit */
    pdk_metrics format;
    const char *const *labels; /* ends with NULL */
};

/* --- bytes ------------------------------------------------------------------------------------------------------- */

static void put_byte(struct text *t, char byte)
{
    if (t->n + 1 < t->size)
        t->buf[t->n] = byte;
    t->n++;
}

static void put(struct text *t, const char *text)
{
    while (*text != '\0')
        put_byte(t, *text++);
}

__attribute__((format(printf, 2, 3))) static void print(struct text *t, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    put(t, line);
}

/* How many bytes the UTF-8 character at TEXT has; 0: it is none, or a control character. */
static size_t character(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        unsigned least;
    } forms[] = {{0x80, 0x00, 0x20}, {0xe0, 0xc0, 0xa0}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 1; n <= 4; n++) {
        if ((text[0] & forms[n - 1].mask) != forms[n - 1].lead)
            continue;
        unsigned code = text[0] & (unsigned char)~forms[n - 1].mask;
        for (size_t i = 1; i < n; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        bool whole = code >= forms[n - 1].least && code <= 0x10ffff && (code & 0xfffff800) != 0xd800;
        return whole && code != 0x7f ? n : 0;
    }
    return 0;
}

static void put_value(struct text *t, const char *value)
{
    while (*value != '\0') {
        size_t n = character((const unsigned char *)value);
        if (n == 1 && (*value == '"' || *value == '\\'))
            put_byte(t, '\\');
        if (n == 0)
            put_byte(t, '?');
        for (size_t i = 0; i < n; i++)
            put_byte(t, value[i]);
        value += n > 0 ? n : 1;
    }
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

static bool is_name(const char *name)
{
    static const char *const ours[] = {"le", "source", "error", "reason"};
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i]) == 0)
            return false;
    bool begins = *name != '\0' && (*name < '0' || *name > '9') && strncmp(name, "__", 2) != 0;
    return begins && name[strspn(name, letters)] == '\0';
}

/* The labels of a sample: those of the caller, and one of its own where NAME is not NULL. */
static void put_labels(struct text *t, const char *name, const char *value)
{
    char before = '{';
    for (const char *const *l = t->labels; l[0] != NULL && l[1] != NULL; l += 2) {
        if (!is_name(l[0]))
            continue;
        put_byte(t, before);
        before = ',';
        put(t, l[0]);
        put(t, "=\"");
        put_value(t, l[1]);
        put_byte(t, '"');
    }
    if (name != NULL) {
        print(t, "%c%s=\"%s\"", before, name, value);
        before = ',';
    }
    if (before == ',')
        put_byte(t, '}');
}

/* --- families ---------------------------------------------------------------------------------------------------- */

/* UNIT: "" for none; it is part of the name. */
static void head(struct text *t, const char *name, const char *type, const char *unit, const char *help)
{
    bool open = t->format == PDK_METRICS_OPENMETRICS;
    const char *total = strcmp(type, "counter") == 0 && !open ? "_total" : "";
    print(t, "# TYPE paddock_%s%s %s\n", name, total, type);
    if (open && *unit != '\0')
        print(t, "# UNIT paddock_%s %s\n", name, unit);
    print(t, "# HELP paddock_%s%s %s\n", name, total, help);
}

static void sample(struct text *t, const char *name, const char *suffix, const char *label, const char *value,
                   uint64_t n)
{
    print(t, "paddock_%s%s", name, suffix);
    put_labels(t, label, value);
    print(t, " %llu\n", (unsigned long long)n);
}

static void counter(struct text *t, const char *name, const char *help, uint64_t n)
{
    head(t, name, "counter", "", help);
    sample(t, name, "_total", NULL, NULL, n);
}

static void gauge(struct text *t, const char *name, const char *help, uint64_t n)
{
    head(t, name, "gauge", "", help);
    sample(t, name, "", NULL, NULL, n);
}

/* A number of milliseconds in seconds, or a number without a unit. */
static void put_number(char text[32], bool seconds, uint64_t n)
{
    if (seconds)
        snprintf(text, 32, "%llu.%03u", (unsigned long long)(n / 1000), (unsigned)(n % 1000));
    else
        snprintf(text, 32, "%llu.0", (unsigned long long)n);
    for (size_t last = strlen(text) - 1; text[last] == '0' && text[last - 1] != '.'; last--)
        text[last] = '\0'; /* the form that OpenMetrics demands of a bound */
}

static void histogram(struct text *t, const pdk_stats *s, pdk_histogram which, const char *name, const char *help)
{
    char number[32];
    int64_t bound;
    uint64_t count = 0;
    bool seconds = which != PDK_HISTOGRAM_QUEUE;
    head(t, name, "histogram", seconds ? "seconds" : "", help);
    for (size_t i = 0; pdk_stats_bucket(s, which, i, &bound, &count); i++) {
        if (bound == INT64_MAX)
            snprintf(number, sizeof number, "+Inf");
        else
            put_number(number, seconds, (uint64_t)bound);
        sample(t, name, "_bucket", "le", number, count);
    }
    print(t, "paddock_%s_sum", name);
    put_labels(t, NULL, NULL);
    put_number(number, seconds, pdk_stats_sum(s, which));
    print(t, " %s\n", number);
    sample(t, name, "_count", NULL, NULL, count);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static void requests(struct text *t, const pdk_stats *s)
{
    static const int errors[] = {
#define CODE(name, code, class, text) code,
        PDK_ERRORS(CODE)
#undef CODE
    };
    counter(t, "acquires", "Requests for a lock, permits or a leadership.", pdk_stats_count(s, PDK_STAT_ACQUIRES));
    head(t, "grants", "counter", "", "Requests that were granted, by what granted them.");
    sample(t, "grants", "_total", "source", "servers", pdk_stats_count(s, PDK_STAT_SERVER_GRANTS));
    sample(t, "grants", "_total", "source", "handover", pdk_stats_count(s, PDK_STAT_HANDOVERS));
    sample(t, "grants", "_total", "source", "idle", pdk_stats_count(s, PDK_STAT_REUSES));
    head(t, "failures", "counter", "", "Requests that were not granted, by error.");
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        sample(t, "failures", "_total", "error", pdk_strerrorname(errors[i]), pdk_stats_failures(s, errors[i]));
    gauge(t, "waiting", "Requests that wait.", pdk_stats_count(s, PDK_STAT_WAITING));
}

static void holds(struct text *t, const pdk_stats *s)
{
    static const char *const reasons[] = {[PDK_LOSS_SESSION] = "session",
                                          [PDK_LOSS_LEASE] = "lease",
                                          [PDK_LOSS_NODE] = "node",
                                          [PDK_LOSS_CLOSED] = "closed"};
    gauge(t, "held", "Locks that are held.", pdk_stats_count(s, PDK_STAT_HELD));
    head(t, "losses", "counter", "", "Grants that were lost before they were released, by reason.");
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        sample(t, "losses", "_total", "reason", reasons[i], pdk_stats_losses(s, (pdk_loss)i));
    histogram(t, s, PDK_HISTOGRAM_WAIT, "wait_seconds", "Time from a request to its grant.");
    histogram(t, s, PDK_HISTOGRAM_HOLD, "hold_seconds", "Time from the servers' grant to the release or the loss.");
    histogram(t, s, PDK_HISTOGRAM_QUEUE, "queue_ahead", "Contenders ahead of a node that joined a queue.");
}

static void session(struct text *t, const pdk_stats *s)
{
    gauge(t, "connected", "1 while a server is connected.", pdk_stats_count(s, PDK_STAT_CONNECTED));
    counter(t, "sessions", "Sessions that began.", pdk_stats_count(s, PDK_STAT_SESSIONS));
    counter(t, "expiries", "Sessions that expired or were given up.", pdk_stats_count(s, PDK_STAT_EXPIRIES));
    counter(t, "disconnects", "Connections that were lost.", pdk_stats_count(s, PDK_STAT_DISCONNECTS));
    counter(t, "reconnects", "Connections after the first of a session.", pdk_stats_count(s, PDK_STAT_RECONNECTS));
    counter(t, "renewals_sent", "Requests to renew the session of a held lock.",
            pdk_stats_count(s, PDK_STAT_RENEWALS_SENT));
    histogram(t, s, PDK_HISTOGRAM_RENEWAL, "renewal_seconds", "Time until a quorum acknowledged a renewal.");
}

size_t pdk_stats_format(const pdk_stats *s, pdk_metrics format, const char *const *labels, char *buf, size_t size)
{
    static const char *const none[] = {NULL};
    struct text t = {.buf = buf, .size = size, .format = format, .labels = labels != NULL ? labels : none};
    if (s != NULL) {
        requests(&t, s);
        holds(&t, s);
        session(&t, s);
        if (format == PDK_METRICS_OPENMETRICS)
            put(&t, "# EOF\n");
    }
    if (size > 0)
        buf[t.n < size ? t.n : size - 1] = '\0';
    return t.n;
}
