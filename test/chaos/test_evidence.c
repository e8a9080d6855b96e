/* The judge's sources: histories that outlive their writers, and the servers' transaction logs. */
#include "test/chaos/evidence.h"
#include "test/chaos/txnlog.h"
#include "test/lib/check.h"
#include "test/lib/history.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static void make_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/paddock-evidence-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
}

static void remove_dir(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    CHECK_EQ(system(command), 0);
}

/* --- histories --------------------------------------------------------------------------------------------------- */

static void a_history_survives_its_process(void)
{
    char file[96];
    snprintf(file, sizeof file, "%s/h", dir);
    struct history *h = history_create(file, 3, 1);
    CHECK(h != NULL);
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        history_write(h, &(struct record){.event = GRANTED, .token = 7, .node = "n"});
        for (;;)
            pause();
    }
    CHECK_WITHIN(60000, history_size(h) == 1 && h->records[0].event == GRANTED);
    kill(pid, SIGKILL);
    CHECK_EQ(pdk__test_wait(pid), -SIGKILL);
    history_close(h);
    h = history_open(file, true);
    CHECK(h != NULL);
    CHECK_EQ(history_size(h), 1);
    CHECK_EQ(h->records[0].token, 7);
    CHECK_EQ(h->records[0].pid, pid);
    CHECK_STR(h->records[0].node, "n");
    CHECK_EQ(h->place, 3);
    history_close(h);
}

static void what_is_no_history_is_refused(void)
{
    char file[96];
    snprintf(file, sizeof file, "%s/no", dir);
    FILE *f = fopen(file, "we");
    CHECK(f != NULL);
    CHECK_EQ(ftruncate(fileno(f), sizeof(struct history)), 0);
    fclose(f);
    CHECK(history_open(file, true) == NULL);
    CHECK_EQ(truncate(file, 10), 0);
    CHECK(history_open(file, true) == NULL);
    CHECK(history_open("/nowhere", true) == NULL);
}

/* --- transaction logs -------------------------------------------------------------------------------------------- */

static unsigned char bytes[65536];
static size_t n_bytes;

static void put(int64_t value, int size)
{
    for (int i = size - 1; i >= 0; i--)
        bytes[n_bytes++] = (unsigned char)((uint64_t)value >> (8 * i));
}

static void put_text(const char *text)
{
    put((int64_t)strlen(text), 4);
    memcpy(bytes + n_bytes, text, strlen(text));
    n_bytes += strlen(text);
}

static void begin_log(void)
{
    memset(bytes, 0, sizeof bytes);
    n_bytes = 0;
    put(0x5a4b4c47, 4);
    put(2, 4);
    put(0, 8);
}

/* A transaction's length is known when it is finished. */
static size_t begin_txn(int64_t session, int cxid, int64_t zxid, int type)
{
    put(0, 8);
    put(0, 4);
    size_t start = n_bytes;
    put(session, 8);
    put(cxid, 4);
    put(zxid, 8);
    put(1000 + zxid, 8);
    put(type, 4);
    return start;
}

static void end_txn(size_t start)
{
    size_t end = n_bytes;
    n_bytes = start - 4;
    put((int64_t)(end - start), 4);
    n_bytes = end;
    put(0x42, 1);
}

static void put_create_body(const char *path, bool is_ephemeral)
{
    put_text(path);
    put_text("data");
    put(1, 4);
    put(31, 4);
    put_text("world");
    put_text("anyone");
    put(is_ephemeral, 1);
    put(0, 4);
}

static void put_create(int64_t session, int64_t zxid, const char *path)
{
    size_t start = begin_txn(session, 9, zxid, TXN_CREATE2);
    put_create_body(path, true);
    end_txn(start);
}

static void put_delete(int64_t session, int64_t zxid, const char *path)
{
    size_t start = begin_txn(session, 10, zxid, TXN_DELETE);
    put_text(path);
    end_txn(start);
}

static void put_close(int64_t session, int cxid, int64_t zxid)
{
    end_txn(begin_txn(session, cxid, zxid, TXN_CLOSE_SESSION));
}

static void put_part_create(int type, const char *path, bool is_ephemeral)
{
    put(type, 4);
    put(0, 4);
    size_t body = n_bytes;
    put_create_body(path, is_ephemeral);
    size_t end = n_bytes;
    n_bytes = body - 4;
    put((int64_t)(end - body), 4);
    n_bytes = end;
}

static void put_part_error(int error)
{
    put(TXN_ERROR, 4);
    put(4, 4);
    put(error, 4);
}

/* A create and a delete in one. */
static void put_multi(int64_t session, int64_t zxid, const char *made, const char *gone)
{
    size_t start = begin_txn(session, 11, zxid, TXN_MULTI);
    put(2, 4);
    put_part_create(TXN_CREATE, made, false);
    put(TXN_DELETE, 4);
    put(4 + (int64_t)strlen(gone), 4);
    put_text(gone);
    end_txn(start);
}

static void apply(const struct txn *txn, void *arg) { truth_apply(arg, txn); }

static void every_ending_is_told_from_the_others(void)
{
    struct truth t = {0};
    begin_log();
    put_create(1, 10, "/chaos/lock/a-lock-0000000000");
    put_create(1, 11, "/chaos/lock/b-lock-0000000001");
    put_create(2, 12, "/chaos/lock/c-lock-0000000002");
    put_create(3, 13, "/chaos/lock/d-lock-0000000003");
    put_create(4, 14, "/chaos/lock/junk");
    put_create(4, 15, "/other/e-lock-0000000004");
    put_delete(1, 16, "/chaos/lock/a-lock-0000000000");
    put_delete(9, 17, "/chaos/lock/b-lock-0000000001");
    put_close(2, 0, 18);
    put_close(3, 77, 19);
    CHECK_EQ(txnlog_parse(bytes, sizeof bytes, apply, &t), 10);
    CHECK_EQ(t.n, 5);
    CHECK_EQ(t.nodes[0].ending, BY_OWNER);
    CHECK_EQ(t.nodes[1].ending, BY_ANOTHER);
    CHECK_EQ(t.nodes[2].ending, BY_EXPIRY);
    CHECK_EQ(t.nodes[3].ending, BY_CLOSE);
    CHECK_EQ(t.nodes[3].gone_cxid, 77);
    CHECK_EQ(t.nodes[4].ending, STAYED);
    CHECK(t.nodes[3].is_contender && !t.nodes[4].is_contender);
    CHECK_EQ(truth_find(&t, LANE_LOCK, 12)->owner, 2);
    CHECK_EQ(truth_find(&t, LANE_LOCK, 12)->gone_ms, 1018);
    CHECK(truth_find(&t, LANE_LOCK, 15) == NULL);
    truth_free(&t);
}

static void the_time_between_two_leaders_is_known(void)
{
    struct truth t = {0};
    const int64_t second = INT64_C(1) << 32, fourth = INT64_C(3) << 32;
    const struct txn txns[] = {{.zxid = 5, .time_ms = 1000},           {.zxid = 6, .time_ms = 9000},
                               {.zxid = second | 1, .time_ms = 29000}, {.zxid = second | 2, .time_ms = 39000},
                               {.zxid = second | 2, .time_ms = 39000}, {.zxid = fourth | 1, .time_ms = 41000}};
    for (size_t i = 0; i < sizeof txns / sizeof *txns; i++)
        truth_apply(&t, &txns[i]);
    CHECK_EQ(t.elections.n, 2);
    CHECK_EQ(t.elections.list[0].from_ms, 9000);
    CHECK_EQ(t.elections.list[0].until_ms, 29000);
    CHECK_EQ(t.elections.list[1].from_ms, 39000);
    CHECK_EQ(t.elections.list[1].until_ms, 41000);
    truth_free(&t);
}

static void the_parts_of_a_multi_are_seen(void)
{
    struct truth t = {0};
    begin_log();
    put_create(1, 10, "/chaos/lock/a-lock-0000000000");
    put_multi(1, 11, "/chaos/lock/b-lock-0000000001", "/chaos/lock/a-lock-0000000000");
    CHECK_EQ(txnlog_parse(bytes, sizeof bytes, apply, &t), 2);
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.nodes[0].gone_zxid, 11);
    CHECK_EQ(t.nodes[1].czxid, 11);
    CHECK_EQ(t.nodes[1].owner, 0);
    truth_free(&t);
}

/* Written alone, and in a transaction. */
static void the_record_of_the_job_is_kept(void)
{
    struct truth t = {0};
    begin_log();
    size_t start = begin_txn(1, 9, 10, TXN_SET_DATA);
    put_text("/chaos/lock.last-run");
    put_text("{}");
    put(1, 4);
    end_txn(start);
    start = begin_txn(1, 9, 11, TXN_SET_DATA);
    put_text("/chaos/lock.last-runs");
    put_text("other");
    put(1, 4);
    end_txn(start);
    start = begin_txn(1, 9, 12, TXN_MULTI);
    put(1, 4);
    put_part_create(TXN_CREATE, "/chaos/lock.last-run", false);
    end_txn(start);
    CHECK_EQ(txnlog_parse(bytes, n_bytes, apply, &t), 3);
    CHECK_EQ(t.runs.n, 2);
    CHECK_EQ(t.runs.list[0].zxid, 10);
    CHECK_EQ(t.runs.list[0].ms, 1010);
    CHECK_STR(t.runs.list[0].text, "{}");
    CHECK_STR(t.runs.list[1].text, "data");
    truth_free(&t);
}

/* A server logs the parts before the failed one with their own types (the refused path is the second). */
static void a_multi_that_failed_made_nothing(void)
{
    struct truth t = {0};
    begin_log();
    size_t start = begin_txn(1, 9, 10, TXN_MULTI);
    put(3, 4);
    put_part_create(TXN_CREATE, "/chaos/lock/a-lock-0000000000", true);
    put_part_error(-101);
    put_part_error(-2);
    end_txn(start);
    put_create(1, 11, "/chaos/lock/b-lock-0000000000");
    CHECK_EQ(txnlog_parse(bytes, n_bytes, apply, &t), 2);
    CHECK_EQ(t.n, 1);
    CHECK_EQ(t.nodes[0].czxid, 11);
    CHECK_EQ(t.n_contradictions, 0);
    truth_free(&t);
}

/* A multi-lock's: in two lanes by one transaction. */
static void a_multi_makes_nodes_in_several_lanes(void)
{
    struct truth t = {0};
    begin_log();
    put_create(2, 9, "/chaos/multi-b/a-lock-0000000000");
    size_t start = begin_txn(1, 9, 10, TXN_MULTI);
    put(2, 4);
    put_part_create(TXN_CREATE2, "/chaos/multi-a/b-lock-0000000000", true);
    put_part_create(TXN_CREATE, "/chaos/multi-b/b-lock-0000000001", true);
    end_txn(start);
    put_delete(2, 11, "/chaos/multi-b/a-lock-0000000000");
    put_close(1, 77, 12);
    CHECK_EQ(txnlog_parse(bytes, n_bytes, apply, &t), 4);
    CHECK_EQ(t.n, 3);
    const struct znode *a = truth_find(&t, LANE_A, 10), *b = truth_find(&t, LANE_B, 10), *last;
    CHECK(a != NULL && b != NULL && a != b);
    CHECK(truth_find(&t, LANE_C, 10) == NULL);
    CHECK(a->owner == 1 && b->owner == 1);
    CHECK(truth_find_name(&t, LANE_B, "b-lock-0000000001") == b);
    CHECK_EQ(truth_first_ms(&t, a, &last), 1010);
    CHECK(last == NULL);
    CHECK_EQ(truth_first_ms(&t, b, &last), 1011);
    CHECK(last == truth_find(&t, LANE_B, 9));
    CHECK(a->ending == BY_CLOSE && b->ending == BY_CLOSE);
    truth_free(&t);
}

/* A writer that goes on as a reader has the place of its writer's node: the next writer waits for both. */
static void a_node_under_anothers_number_has_its_rank(void)
{
    struct truth t = {0};
    const struct znode *last;
    begin_log();
    put_create(1, 10, "/chaos/rwlock/a-__WRIT__0000000000");
    put_create(2, 11, "/chaos/rwlock/b-__WRIT__0000000001");
    put_create(3, 12, "/chaos/rwlock/c-__READ__0000000002");
    put_create(1, 13, "/chaos/rwlock/d-__READ__0000000000");
    put_delete(1, 14, "/chaos/rwlock/a-__WRIT__0000000000");
    put_delete(1, 15, "/chaos/rwlock/d-__READ__0000000000");
    put_delete(2, 16, "/chaos/rwlock/b-__WRIT__0000000001");
    CHECK_EQ(txnlog_parse(bytes, n_bytes, apply, &t), 7);
    CHECK_EQ(truth_find(&t, LANE_RWLOCK, 13)->rank, 10);
    CHECK_EQ(truth_first_ms(&t, truth_find(&t, LANE_RWLOCK, 13), NULL), 1013);
    CHECK_EQ(truth_first_ms(&t, truth_find(&t, LANE_RWLOCK, 11), &last), 1015);
    CHECK_EQ(last->czxid, 13);
    CHECK_EQ(truth_first_ms(&t, truth_find(&t, LANE_RWLOCK, 12), NULL), 1016);
    truth_free(&t);
}

/* Of three, the fourth waits for the first that goes; and so does a child without a number count. */
static void a_lane_has_room_for_several(void)
{
    struct truth t = {0};
    begin_log();
    put_create(9, 9, "/chaos/permits/leases/junk");
    put_create(1, 10, "/chaos/permits/leases/a-lease-0000000000");
    put_create(2, 11, "/chaos/permits/leases/b-lease-0000000001");
    put_create(3, 12, "/chaos/permits/leases/c-lease-0000000002");
    put_delete(2, 14, "/chaos/permits/leases/b-lease-0000000001");
    put_delete(1, 15, "/chaos/permits/leases/a-lease-0000000000");
    CHECK_EQ(txnlog_parse(bytes, n_bytes, apply, &t), 6);
    CHECK_EQ(truth_first_ms(&t, truth_find(&t, LANE_PERMITS, 11), NULL), 1011);
    CHECK_EQ(truth_first_ms(&t, truth_find(&t, LANE_PERMITS, 12), NULL), 1014);
    truth_free(&t);
}

static void ignore(const struct txn *txn, void *arg) { (void)txn, (void)arg; }

static void half_a_transaction_at_the_end_is_forgiven(void)
{
    begin_log();
    put_create(1, 10, "/chaos/lock/a-lock-0000000000");
    size_t whole = n_bytes;
    put_delete(1, 11, "/chaos/lock/a-lock-0000000000");
    for (size_t n = whole; n < n_bytes; n++)
        CHECK_EQ(txnlog_parse(bytes, n, ignore, NULL), 1);
    CHECK_EQ(txnlog_parse(bytes, n_bytes, ignore, NULL), 2);
}

static void what_is_no_log_is_refused(void)
{
    begin_log();
    CHECK_EQ(txnlog_parse(bytes, 15, ignore, NULL), -1);
    bytes[0] = 0;
    CHECK_EQ(txnlog_parse(bytes, sizeof bytes, ignore, NULL), -1);
    begin_log();
    end_txn(begin_txn(1, 1, 10, TXN_CREATE)); /* of nothing */
    CHECK_EQ(txnlog_parse(bytes, sizeof bytes, ignore, NULL), -1);
    CHECK_EQ(txnlog_read("/nowhere", ignore, NULL), -1);
}

/* --- three logs -------------------------------------------------------------------------------------------------- */

static void keep_log(int server)
{
    char file[128];
    snprintf(file, sizeof file, "%s/server-%d", dir, server);
    CHECK_EQ(mkdir(file, 0700), 0);
    strcat(file, "/log.1");
    FILE *f = fopen(file, "we");
    CHECK(f != NULL);
    CHECK_EQ(fwrite(bytes, 1, n_bytes, f), n_bytes);
    CHECK_EQ(fclose(f), 0);
}

static void what_one_log_alone_has_did_not_happen(void)
{
    struct truth t;
    for (int server = 0; server < 3; server++) {
        begin_log();
        put_create(1, 10, "/chaos/lock/a-lock-0000000000");
        if (server < 2)
            put_create(2, 11, "/chaos/lock/b-lock-0000000001");
        if (server == 2)
            put_create(3, 12, "/chaos/lock/c-lock-0000000001");
        keep_log(server);
    }
    CHECK(truth_read(&t, dir));
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.n_txns, 2);
    CHECK_EQ(t.n_discarded, 1);
    CHECK(truth_find(&t, LANE_LOCK, 12) == NULL);
    truth_free(&t);
    CHECK(!truth_read(&t, "/nowhere"));
}

static void keep_snapshot(int server, int64_t zxid, int64_t second)
{
    char file[128];
    struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    snprintf(file, sizeof file, "%s/server-%d/snapshot.%llx", dir, server, (unsigned long long)zxid);
    FILE *f = fopen(file, "we");
    CHECK(f != NULL);
    CHECK_EQ(fclose(f), 0);
    CHECK_EQ(utimensat(AT_FDCWD, file, times, 0), 0);
}

/* All three logs have 11, but the leader of the second epoch stands on 10; another had stood on 11 before. */
static void what_the_next_leader_does_not_stand_on_did_not_happen(void)
{
    struct truth t;
    remove_dir();
    make_dir();
    for (int server = 0; server < 3; server++) {
        begin_log();
        put_create(1, 10, "/chaos/lock/a-lock-0000000000");
        put_create(2, 11, "/chaos/lock/b-lock-0000000001");
        put_create(3, INT64_C(0x100000001), "/chaos/lock/c-lock-0000000001");
        put_delete(3, INT64_C(0x100000002), "/chaos/lock/c-lock-0000000001");
        keep_log(server);
    }
    keep_snapshot(0, 11, 10);
    keep_snapshot(1, 10, 20);
    keep_snapshot(2, 11, 1000000000); /* after the epoch had begun */
    CHECK(truth_read(&t, dir));
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.nodes[0].czxid, 10);
    CHECK_EQ(t.nodes[1].ending, BY_OWNER);
    CHECK_EQ(t.n_discarded, 1);
    CHECK_EQ(t.n_contradictions, 0);
    truth_free(&t);
}

static void logs_that_contradict_themselves_are_noticed(void)
{
    struct truth t = {0};
    begin_log();
    put_create(1, 10, "/chaos/lock/a-lock-0000000000");
    put_create(1, 11, "/chaos/lock/a-lock-0000000000");
    put_delete(1, 12, "/chaos/lock/b-lock-0000000001");
    CHECK_EQ(txnlog_parse(bytes, sizeof bytes, apply, &t), 3);
    CHECK_EQ(t.n_contradictions, 2);
    truth_free(&t);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a history survives its process", a_history_survives_its_process},
        {"what is no history is refused", what_is_no_history_is_refused},
        {"every ending of a node is told from the others", every_ending_is_told_from_the_others},
        {"the time between two leaders is known", the_time_between_two_leaders_is_known},
        {"the parts of a multi are seen", the_parts_of_a_multi_are_seen},
        {"the record of the job is kept", the_record_of_the_job_is_kept},
        {"a multi that failed made nothing", a_multi_that_failed_made_nothing},
        {"a multi makes nodes in several lanes", a_multi_makes_nodes_in_several_lanes},
        {"a node under another's number has its rank", a_node_under_anothers_number_has_its_rank},
        {"a lane has room for several", a_lane_has_room_for_several},
        {"half a transaction at the end is forgiven", half_a_transaction_at_the_end_is_forgiven},
        {"what is no transaction log is refused", what_is_no_log_is_refused},
        {"logs that contradict themselves are noticed", logs_that_contradict_themselves_are_noticed},
        {"what one log alone has did not happen", what_one_log_alone_has_did_not_happen},
        {"what the next leader does not stand on did not happen",
         what_the_next_leader_does_not_stand_on_did_not_happen},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "evidence", .tests = tests, .setup = make_dir, .teardown = remove_dir});
}
