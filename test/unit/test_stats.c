/* Statistics: each event raises its own counter and no other, and their text is one that a monitoring system reads. */
#include "lib/stats.h"
#include "paddock/error.h"
#include "test/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static struct pdk_stats s;
static char text[32768];

static void begin(void) { s = (struct pdk_stats){0}; }

static uint64_t count(pdk_stat what) { return pdk_stats_count(&s, what); }

/* How many values are in buckets 0 to I together. */
static uint64_t up_to(pdk_histogram which, size_t i)
{
    uint64_t n = 0;
    CHECK(pdk_stats_bucket(&s, which, i, NULL, &n));
    return n;
}

static size_t buckets(pdk_histogram which)
{
    size_t n = 0;
    while (pdk_stats_bucket(&s, which, n, NULL, NULL))
        n++;
    return n;
}

static uint64_t all(pdk_histogram which) { return up_to(which, buckets(which) - 1); }

/* --- counters ---------------------------------------------------------------------------------------------------- */

static void requests(void)
{
    begin();
    pdk__stats_request(&s, "/a");
    pdk__stats_request(&s, "/a");
    pdk__stats_request(&s, "/a");
    CHECK_EQ(count(PDK_STAT_WAITING), 3);
    pdk__stats_grant(&s, "/a", PDK__BY_SERVERS, 3);
    pdk__stats_grant(&s, "/a", PDK__BY_HANDOVER, 4);
    pdk__stats_reuse(&s, "/a");
    pdk__stats_failure(&s, "/a", PDK_EBUSY);
    CHECK_EQ(count(PDK_STAT_ACQUIRES), 4);
    CHECK_EQ(count(PDK_STAT_GRANTS), 3);
    CHECK_EQ(count(PDK_STAT_SERVER_GRANTS), 1);
    CHECK_EQ(count(PDK_STAT_HANDOVERS), 1);
    CHECK_EQ(count(PDK_STAT_REUSES), 1);
    CHECK_EQ(count(PDK_STAT_FAILURES), 1);
    CHECK_EQ(count(PDK_STAT_WAITING), 0);
    CHECK_EQ(pdk_stats_failures(&s, PDK_EBUSY), 1);
    CHECK_EQ(pdk_stats_failures(&s, PDK_ETIMEDOUT), 0);
    CHECK_EQ(all(PDK_HISTOGRAM_WAIT), 3);
    CHECK_EQ(pdk_stats_sum(&s, PDK_HISTOGRAM_WAIT), 7);
    CHECK_EQ(up_to(PDK_HISTOGRAM_WAIT, 0), 1); /* the one that did not wait */
}

static void holds(void)
{
    begin();
    pdk__stats_hold(&s, "/a", 1);
    pdk__stats_hold(&s, "/a", 2);
    CHECK_EQ(count(PDK_STAT_HELD), 2);
    pdk__stats_held(&s, "/a", 1, 70);
    pdk__stats_loss(&s, "/a", 2, PDK_LOSS_LEASE);
    CHECK_EQ(count(PDK_STAT_HELD), 1);
    CHECK_EQ(count(PDK_STAT_LOSSES), 1);
    CHECK_EQ(pdk_stats_losses(&s, PDK_LOSS_LEASE), 1);
    CHECK_EQ(pdk_stats_losses(&s, PDK_LOSS_NODE), 0);
    CHECK_EQ(pdk_stats_sum(&s, PDK_HISTOGRAM_HOLD), 70);
}

static void sessions(void)
{
    begin();
    pdk__stats_up(&s, 7);
    CHECK_EQ(count(PDK_STAT_CONNECTED), 1);
    pdk__stats_down(&s);
    CHECK_EQ(count(PDK_STAT_CONNECTED), 0);
    pdk__stats_up(&s, 7);
    pdk__stats_expiry(&s);
    CHECK_EQ(count(PDK_STAT_CONNECTED), 0);
    pdk__stats_up(&s, 8);
    pdk__stats_renewal_sent(&s);
    pdk__stats_renewal_sent(&s);
    pdk__stats_renewal(&s, 2);
    CHECK_EQ(count(PDK_STAT_SESSIONS), 2);
    CHECK_EQ(count(PDK_STAT_RECONNECTS), 1);
    CHECK_EQ(count(PDK_STAT_DISCONNECTS), 1);
    CHECK_EQ(count(PDK_STAT_EXPIRIES), 1);
    CHECK_EQ(count(PDK_STAT_RENEWALS_SENT), 2);
    CHECK_EQ(count(PDK_STAT_RENEWALS), 1);
    CHECK_EQ(pdk_stats_sum(&s, PDK_HISTOGRAM_RENEWAL), 2);
}

static void histograms(void)
{
    for (pdk_histogram which = 0; which <= PDK_HISTOGRAM_RENEWAL; which++) {
        int64_t before = -1, bound = -1;
        for (size_t i = 0; pdk_stats_bucket(&s, which, i, &bound, NULL); before = bound, i++)
            CHECK(i < PDK__STATS_BUCKETS && bound > before);
        CHECK_EQ(bound, INT64_MAX);
    }
    begin();
    pdk__stats_queue(&s, 0);
    pdk__stats_queue(&s, 1);
    pdk__stats_queue(&s, 3);
    pdk__stats_queue(&s, 1001);
    CHECK_EQ(up_to(PDK_HISTOGRAM_QUEUE, 0), 1);
    CHECK_EQ(up_to(PDK_HISTOGRAM_QUEUE, 1), 2);
    CHECK_EQ(up_to(PDK_HISTOGRAM_QUEUE, 2), 2);
    CHECK_EQ(up_to(PDK_HISTOGRAM_QUEUE, 3), 3);
    CHECK_EQ(all(PDK_HISTOGRAM_QUEUE), 4);
    CHECK_EQ(pdk_stats_sum(&s, PDK_HISTOGRAM_QUEUE), 1005);
    pdk__stats_held(&s, "/a", 1, -5); /* a clock that stood still is no time */
    CHECK_EQ(up_to(PDK_HISTOGRAM_HOLD, 0), 1);
    CHECK_EQ(pdk_stats_sum(&s, PDK_HISTOGRAM_HOLD), 0);
    pdk__stats_held(&s, "/a", 1, INT64_MAX);
    CHECK_EQ(all(PDK_HISTOGRAM_HOLD), 2);
}

static void nonsense(void)
{
    begin();
    pdk__stats_request(&s, "/a");
    CHECK_EQ(pdk_stats_count(&s, (pdk_stat)99), 0);
    CHECK_EQ(pdk_stats_count(NULL, PDK_STAT_ACQUIRES), 0);
    CHECK_EQ(pdk_stats_failures(&s, 0) + pdk_stats_failures(&s, 1) + pdk_stats_failures(&s, -1000), 0);
    CHECK_EQ(pdk_stats_losses(&s, (pdk_loss)99), 0);
    int64_t bound = 7;
    uint64_t n = 7;
    CHECK(!pdk_stats_bucket(&s, (pdk_histogram)99, 0, &bound, &n));
    CHECK(!pdk_stats_bucket(&s, PDK_HISTOGRAM_QUEUE, 1000, &bound, &n));
    CHECK(!pdk_stats_bucket(NULL, PDK_HISTOGRAM_QUEUE, 0, &bound, &n));
    CHECK_EQ(bound + (int64_t)n, 14); /* as they were */
    CHECK_EQ(pdk_stats_sum(&s, (pdk_histogram)99), 0);
    CHECK_EQ(pdk_stats_format(NULL, PDK_METRICS_OPENMETRICS, NULL, text, sizeof text), 0);
    CHECK_STR(text, "");
    pdk_stats_free(NULL);
}

/* --- text -------------------------------------------------------------------------------------------------------- */

static void format(pdk_metrics format, const char *const *labels)
{
    size_t n = pdk_stats_format(&s, format, labels, text, sizeof text);
    CHECK(n < sizeof text && n == strlen(text));
}

/* The value of the sample that begins with HEAD. */
static double value(const char *head)
{
    size_t n = strlen(head);
    for (const char *line = text; line != NULL; line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, head, n) == 0 && line[n] == ' ')
            return strtod(line + n, NULL);
    pdk__test_fail(__FILE__, __LINE__, "no sample '%s' in '%s'", head, text);
}

static void fill(void)
{
    begin();
    for (int i = 0; i < 4; i++)
        pdk__stats_request(&s, "/a");
    pdk__stats_grant(&s, "/a", PDK__BY_SERVERS, 1500);
    pdk__stats_failure(&s, "/a", PDK_ETIMEDOUT);
    pdk__stats_hold(&s, "/a", 1);
    pdk__stats_hold(&s, "/a", 2);
    pdk__stats_held(&s, "/a", 1, 1);
    pdk__stats_loss(&s, "/a", 1, PDK_LOSS_NODE);
    pdk__stats_queue(&s, 12);
    pdk__stats_up(&s, 1);
    pdk__stats_renewal(&s, 1000);
}

static void samples(void)
{
    fill();
    format(PDK_METRICS_PROMETHEUS, NULL);
    CHECK_EQ(value("paddock_acquires_total"), 4);
    CHECK_EQ(value("paddock_grants_total{source=\"servers\"}"), 1);
    CHECK_EQ(value("paddock_failures_total{error=\"PDK_ETIMEDOUT\"}"), 1);
    CHECK_EQ(value("paddock_failures_total{error=\"PDK_EACL\"}"), 0);
    CHECK_EQ(value("paddock_losses_total{reason=\"node\"}"), 1);
    CHECK_EQ(value("paddock_waiting"), 2);
    CHECK_EQ(value("paddock_held"), 1);
    CHECK_EQ(value("paddock_connected"), 1);
    CHECK(strstr(text, "\npaddock_wait_seconds_sum 1.5\n") != NULL);
    CHECK(strstr(text, "\npaddock_hold_seconds_sum 0.001\n") != NULL);
    CHECK(strstr(text, "\npaddock_renewal_seconds_sum 1.0\n") != NULL);
    CHECK_EQ(value("paddock_wait_seconds_bucket{le=\"1.0\"}"), 0);
    CHECK_EQ(value("paddock_wait_seconds_bucket{le=\"2.0\"}"), 1);
    CHECK_EQ(value("paddock_wait_seconds_bucket{le=\"+Inf\"}"), 1);
    CHECK_EQ(value("paddock_wait_seconds_count"), 1);
    CHECK_EQ(value("paddock_queue_ahead_bucket{le=\"10.0\"}"), 0);
    CHECK_EQ(value("paddock_queue_ahead_bucket{le=\"20.0\"}"), 1);
}

/* Each line is a comment or a sample of the family before it, no family comes twice, and no bucket has less than the
 * one before it. */
static void check_lines(bool open)
{
    char family[64] = "", seen[4096] = ",", word[80];
    double last = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        if (sscanf(line, "# TYPE %63s", family) == 1) {
            snprintf(word, sizeof word, ",%s,", family);
            CHECK(strstr(seen, word) == NULL);
            strcat(seen, word);
            last = 0;
        } else if (strcmp(line, "# EOF") == 0) {
            CHECK(open && *rest == '\0');
        } else if (line[0] != '#') {
            CHECK_EQ(strncmp(line, family, strlen(family)), 0);
            double now = strtod(strrchr(line, ' ') + 1, NULL);
            CHECK(strstr(line, "_bucket") == NULL || now >= last);
            last = now;
            if (open && strstr(line, "_total") != NULL)
                CHECK(strstr(family, "_total") == NULL);
        }
    }
}

static void families(void)
{
    fill();
    format(PDK_METRICS_OPENMETRICS, NULL);
    CHECK(strcmp(text + strlen(text) - 6, "# EOF\n") == 0);
    CHECK(strstr(text, "\n# UNIT paddock_wait_seconds seconds\n") != NULL);
    CHECK(strstr(text, "# TYPE paddock_acquires counter\n") != NULL);
    check_lines(true);
    format(PDK_METRICS_PROMETHEUS, NULL);
    CHECK(strstr(text, "# EOF") == NULL && strstr(text, "# UNIT") == NULL);
    CHECK(strstr(text, "# TYPE paddock_acquires_total counter\n") != NULL);
    check_lines(false);
}

static void labels(void)
{
    fill();
    format(PDK_METRICS_PROMETHEUS,
           (const char *const[]){"path", "/a\"b\\c\nd\033[2J\x7f", "of", "caf\xc3\xa9\xff\xc0\x80", NULL});
    CHECK(strstr(text, "paddock_waiting{path=\"/a\\\"b\\\\c?d?[2J?\",of=\"caf\xc3\xa9???\"} 2\n") != NULL);
    CHECK(strstr(text, ",le=\"1.0\"} ") != NULL);
    format(PDK_METRICS_PROMETHEUS, (const char *const[]){"le", "x", "", "x", "9a", "x", "__a", "x", "a-b", "x", "\n",
                                                         "x", "a9", "y", "odd", NULL});
    CHECK(strstr(text, "\npaddock_waiting{a9=\"y\"} 2\n") != NULL);
    format(PDK_METRICS_PROMETHEUS, (const char *const[]){NULL});
    CHECK(strstr(text, "\npaddock_waiting 2\n") != NULL);
}

/* A control character of C1, half of a pair, more than there is, and an end within a character. */
static void hostile_bytes(void)
{
    begin();
    format(PDK_METRICS_PROMETHEUS,
           (const char *const[]){"a", "\xc2\x9b\xed\xa0\x80\xf4\x90\x80\x80\xf0\x9f\x98\x80\xe2\x82", NULL});
    CHECK(strstr(text, "paddock_held{a=\"?????????\xf0\x9f\x98\x80??\"} 0\n") != NULL);
}

static void small_buffers(void)
{
    static char small[32768];
    fill();
    format(PDK_METRICS_OPENMETRICS, NULL);
    size_t n = strlen(text);
    for (size_t size = 0; size <= n + 1; size++) {
        memset(small, 'x', n + 2);
        CHECK_EQ(pdk_stats_format(&s, PDK_METRICS_OPENMETRICS, NULL, small, size), n);
        CHECK(size == 0 || (strlen(small) == size - 1 && strncmp(small, text, size - 1) == 0));
        CHECK_EQ(small[size], 'x');
    }
    CHECK_EQ(pdk_stats_format(&s, PDK_METRICS_OPENMETRICS, NULL, NULL, 0), n);
}

/* Prometheus' own reader in Python, which is strict. */
static void read_by(const char *module)
{
    char script[300];
    snprintf(script, sizeof script,
             "/usr/bin/python3 -c 'import sys\ntry: from prometheus_client%s.parser import "
             "text_string_to_metric_families as f\n"
             "except ImportError: sys.exit(77)\nsys.exit(0 if len(list(f(sys.stdin.read()))) == 16 else 1)'",
             module);
    FILE *out = popen(script, "we");
    CHECK(out != NULL && fputs(text, out) >= 0);
    int status = pclose(out);
    if (status != 0 && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127))
        SKIP("python3-prometheus-client is missing");
    CHECK_EQ(status, 0);
}

static void other_readers(void)
{
    fill();
    format(PDK_METRICS_OPENMETRICS, (const char *const[]){"path", "/a\"b\\c", NULL});
    read_by(".openmetrics");
    format(PDK_METRICS_PROMETHEUS, (const char *const[]){"path", "/a\"b\\c", NULL});
    read_by("");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a request is granted or fails, once", requests},
        {"a hold ends, a loss has a reason", holds},
        {"sessions, connections and renewals", sessions},
        {"a value is in the first bucket that is large enough", histograms},
        {"what is no counter is 0", nonsense},
        {"the samples have the counters", samples},
        {"each family comes once, with its samples", families},
        {"labels are escaped", labels},
        {"bytes that are no characters are masked", hostile_bytes},
        {"a text that does not fit is cut", small_buffers},
        {"a strict reader takes both formats", other_readers},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "stats", .tests = tests});
}
