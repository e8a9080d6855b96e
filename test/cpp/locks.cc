/* paddock.hpp against a server: locks HOSTS. Prints a fact a line. */
#include <atomic>
#include <cstring>
#include <iostream>
#include <mutex>
#include <paddock.hpp>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

static const char *hosts;

struct failure {
    int line;
    const char *what;
};

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            throw failure{__LINE__, #condition};                                                                       \
    } while (0)

/* The error code that CALL throws. */
template <class Call> static std::error_code thrown(Call call)
{
    try {
        call();
    } catch (const std::system_error &error) {
        return error.code();
    }
    return {};
}

static void standard_holders()
{
    paddock::client client(hosts), other(hosts);
    CHECK(other.wait_for(10s)); /* a try before the first connection fails */
    paddock::mutex a(client, "/cpp/a"), b(client, "/cpp/b"), foreign(other, "/cpp/a");
    std::int64_t first = 0;
    {
        std::unique_lock held(a);
        first = a.token();
        CHECK(first > 0 && a.state() == PDK_HELD && a.valid() > 0ms);
        CHECK(!foreign.try_lock());
        CHECK(!foreign.try_lock_for(20ms));
        CHECK(!foreign.try_lock_until(std::chrono::steady_clock::now() - 1s));
        CHECK(a.try_lock()); /* again, by its owner */
        a.unlock();
        CHECK(a.state() == PDK_HELD);
    }
    CHECK(a.state() == PDK_FREE);
    {
        std::scoped_lock both(foreign, b);
        CHECK(foreign.token() > first && b.state() == PDK_HELD);
    }
    CHECK(b.state() == PDK_FREE && foreign.state() == PDK_FREE);
}

static void readers_and_a_writer()
{
    paddock::client client(hosts), other(hosts);
    CHECK(other.wait_for(10s));
    paddock::shared_mutex a(client, "/cpp/rw"), b(other, "/cpp/rw");
    {
        std::shared_lock one(a), two(b);
        CHECK(one.owns_lock() && two.owns_lock() && a.token() != b.token());
        CHECK(thrown([&] { a.lock(); }) == PDK_EDEADLK);
    }
    a.lock();
    CHECK(!b.try_lock_shared() && !b.try_lock_shared_for(10ms));
    a.downgrade();
    CHECK(b.try_lock_shared_for(10s));
    b.release();
    a.release();
}

static void several_paths()
{
    paddock::client client(hosts), other(hosts);
    CHECK(other.wait_for(10s));
    paddock::multi_mutex all(client, {"/cpp/m1", "/cpp/m2"});
    paddock::mutex one(other, "/cpp/m2");
    std::unique_lock held(all);
    CHECK(all.token() > 0);
    CHECK(!one.try_lock());
    held.unlock();
    CHECK(one.try_lock_for(10s));
    CHECK(!all.try_lock());
    one.unlock();
}

static void errors()
{
    paddock::client client(hosts);
    CHECK(thrown([&] { paddock::mutex bad(client, "relative"); }) == PDK_EPATH);
    paddock::mutex m(client, "/cpp/errors");
    CHECK(thrown([&] { m.release(); }) == std::errc::operation_not_permitted);
    CHECK(thrown([&] { m.token(); }) == PDK_EPERM);
    std::error_code busy = PDK_EBUSY;
    CHECK(&busy.category() == &paddock::category() && busy == std::errc::device_or_resource_busy);
    CHECK(busy.message() == pdk_strerror(PDK_EBUSY) && !std::strcmp(busy.category().name(), "paddock"));
}

/* The client is closed while the lock is held: that is a loss. */
static void a_loss_is_not_silent()
{
    paddock::client client(hosts), second(hosts), third(hosts);
    paddock::mutex m(client, "/cpp/lost"), n(second, "/cpp/lost-2"), o(third, "/cpp/lost-3");
    CHECK(thrown([&] {
              paddock::guard held(m);
              client.close();
          }) == PDK_ELOST);
    std::error_code seen;
    std::string text;
    n.on_unlock_error([&](std::error_code error, const std::string &incident) {
        seen = error;
        text = incident;
    });
    {
        std::lock_guard held(n);
        second.close();
    }
    CHECK(seen == PDK_ELOST && text.find("/cpp/lost-2") != std::string::npos);
    seen.clear();
    o.on_unlock_error([&](std::error_code error, const std::string &) { seen = error; });
    try {
        paddock::guard held(o);
        third.close();
        throw 1; /* the loss must not hide it */
    } catch (int) {
    }
    CHECK(seen == PDK_ELOST);
}

static void a_loss_is_told()
{
    paddock::client client(hosts);
    paddock::mutex m(client, "/cpp/told");
    std::atomic<pdk_state> last{PDK_FREE};
    std::atomic<std::int64_t> of{0};
    m.on_event([&](const pdk_event &event) {
        of = event.token;
        last = event.state;
    });
    m.lock();
    std::int64_t token = m.token();
    client.close(); /* the callbacks that were queued have run when it returns */
    CHECK(last == PDK_LOST && of == token);
    m.on_unlock_error([](std::error_code, const std::string &) {});
    m.unlock();
}

static void it_moves_while_it_is_held()
{
    paddock::client client(hosts), moved_client(std::move(client)), other(hosts);
    CHECK(other.wait_for(10s));
    paddock::mutex m(moved_client, "/cpp/moved"), foreign(other, "/cpp/moved");
    m.lock();
    paddock::mutex n(std::move(m));
    CHECK(n.state() == PDK_HELD && !foreign.try_lock());
    n.unlock();
    CHECK(foreign.try_lock_for(10s));
    { /* the end of the object gives back what this thread holds */
        paddock::mutex gone(std::move(foreign));
    }
    CHECK(n.try_lock_for(10s));
    n.unlock();
}

static void permits()
{
    paddock::client client(hosts);
    paddock::semaphore s(client, "/cpp/permits", 3);
    paddock::permit two = s.acquire(2);
    CHECK(two && two.count() == 2 && two.state() == PDK_HELD && two.token() > 0);
    CHECK(!s.try_acquire(2) && !s.try_acquire_for(20ms, 2));
    std::optional<paddock::permit> one = s.try_acquire_for(10s);
    CHECK(one && one->valid() > 0ms && one->count() == 1);
    CHECK(!s.try_acquire());
    two.release();
    two.release(); /* nothing is left of it */
    CHECK(!two);
    one.reset();
    CHECK(s.try_acquire_for(10s, 3));
}

static void a_leader()
{
    paddock::client client(hosts), other(hosts);
    CHECK(other.wait_for(10s));
    std::atomic<int> changes{0};
    paddock::leader one(client, "/cpp/leader"), two(other, "/cpp/leader");
    one.on_event([&](const pdk_event &event) { changes += event.kind != PDK_EVENT_QUEUED; });
    one.start();
    one.wait();
    two.start();
    CHECK(one.state() == PDK_HELD && one.valid() > 0ms && !two.wait_for(20ms));
    std::int64_t token = one.token();
    one.resign();
    CHECK(two.wait_for(10s) && two.token() > token);
    CHECK(thrown([&] { one.wait(); }) == std::errc::operation_canceled);
    while (changes < 2)
        std::this_thread::yield();
}

static void threads_exclude_each_other()
{
    enum { THREADS = 4, ROUNDS = 10 };
    paddock::client client(hosts);
    paddock::mutex m(client, "/cpp/threads");
    int count = 0; /* no atomic: ThreadSanitizer and the sum would tell */
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < ROUNDS; k++) {
                std::lock_guard held(m);
                count++;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(count == THREADS * ROUNDS);
}

/* Neither the thread's reads nor its writes, one of which is under the other, outlast the object. */
static void the_end_gives_back_a_read_lock()
{
    paddock::client client(hosts), other(hosts);
    CHECK(other.wait_for(10s));
    paddock::shared_mutex foreign(other, "/cpp/end");
    {
        paddock::shared_mutex reader(client, "/cpp/end");
        reader.lock_shared();
        reader.lock_shared();
    }
    CHECK(foreign.try_lock_for(10s));
    foreign.unlock();
    {
        paddock::shared_mutex both(client, "/cpp/end");
        both.lock();
        both.lock_shared();
    }
    CHECK(foreign.try_lock_for(10s));
    foreign.unlock();
}

static void times_out_of_range()
{
    using std::chrono::milliseconds;
    using steady = std::chrono::steady_clock;
    paddock::client_options o;
    for (milliseconds bad : {milliseconds((INT64_C(1) << 32) + 5000), milliseconds::max(), milliseconds::min(), -1ms})
        CHECK(thrown([&] { o.session_timeout(bad); }) == PDK_EINVAL);
    paddock::client client(hosts, o.session_timeout(10s)), other(hosts);
    CHECK(other.wait_for(10s));
    paddock::mutex m(client, "/cpp/range"), foreign(other, "/cpp/range");
    std::lock_guard held(m);
    CHECK(!foreign.try_lock_until(steady::time_point::min()));
    CHECK(!foreign.try_lock_until(std::chrono::system_clock::time_point::min()));
    CHECK(!foreign.try_lock_for(steady::duration::min()));
    CHECK(client.wait_for(steady::duration::max()) && client.wait_for(std::chrono::duration<double>(1e300)));
    using paddock::detail::timeout_ms;
    CHECK(timeout_ms(steady::time_point::max()) > INT64_C(1000000000) && timeout_ms(steady::duration::max()) > 0);
    CHECK(timeout_ms(std::chrono::hours::max()) == PDK_FOREVER && timeout_ms(milliseconds::max()) == PDK_FOREVER);
    CHECK(timeout_ms(std::chrono::time_point<steady, std::chrono::hours>::max()) == PDK_FOREVER);
    CHECK(timeout_ms(std::chrono::time_point<steady, std::chrono::hours>::min()) == 0);
    CHECK(timeout_ms(std::chrono::duration<double>(-1e300)) == 0);
    CHECK(timeout_ms(1us) == 1 && timeout_ms(steady::now() + 1h) > 3590000);
}

/* The incident has the code's words: what() does not add them. */
static void an_error_says_it_once()
{
    paddock::client client(hosts);
    paddock::mutex m(client, "/cpp/once");
    std::string text;
    try {
        m.release();
    } catch (const std::system_error &error) {
        text = error.what();
    }
    const std::string words = pdk_strerror(PDK_EPERM);
    CHECK(text.find("/cpp/once") != std::string::npos && text.find(words) != std::string::npos);
    CHECK(text.find(words) == text.rfind(words));
}

/* Of what stays with its process: the node, and so the token, of one owner after another. */
static void options_of_locks()
{
    paddock::client client(hosts), other(hosts);
    CHECK(other.wait_for(10s));
    paddock::mutex m(client, "/cpp/idle", paddock::lock_options().keep(8, 10min).unlock_nowait().look_ahead());
    paddock::shared_mutex rw(client, "/cpp/idle-rw", paddock::lock_options().keep(0, 10min).unlock_nowait());
    paddock::multi_mutex all(client, {"/cpp/n1", "/cpp/n2"}, paddock::lock_options().unlock_nowait());
    paddock::mutex foreign(other, "/cpp/idle"), one(other, "/cpp/n1");
    std::int64_t tokens[2][2];
    for (unsigned i = 0; i < 2; i++) {
        std::unique_lock writes(m);
        std::shared_lock reads(rw);
        CHECK(m.turn() == i + 1 && rw.turn() == i + 1);
        tokens[i][0] = m.token();
        tokens[i][1] = rw.token();
    }
    CHECK(tokens[0][0] == tokens[1][0] && tokens[0][1] == tokens[1][1]);
    CHECK(thrown([&] { m.turn(); }) == PDK_EPERM && thrown([&] { rw.turn(); }) == PDK_EPERM);
    CHECK(foreign.try_lock_for(10s) && foreign.token() > tokens[0][0]);
    foreign.unlock();
    all.lock();
    all.unlock();
    client.flush();
    CHECK(client.flush_for(0ms));
    CHECK(one.try_lock_for(10s));
    one.unlock();
    paddock::lock_options o;
    CHECK(thrown([&] { o.keep(0, -1ms); }) == PDK_EINVAL && thrown([&] { o.keep(0, 25h); }) == PDK_EINVAL);
    CHECK(thrown([&] { o.min_token(-1); }) == PDK_EINVAL && thrown([&] { o.lock_delay(25h); }) == PDK_EINVAL);
    CHECK(thrown([&] { paddock::lock_options().keep(0, -1ms); }) == PDK_EINVAL);
    paddock::mutex late(client, "/cpp/least", paddock::lock_options().confirmed().min_token(INT64_MAX));
    CHECK(thrown([&] { late.lock(); }) == PDK_ESTALE);
    client.close();
    CHECK(thrown([&] { client.flush(); }) == PDK_ECLOSED);
}

/* Data are as long as their string: a zero byte does not end them, and too many are refused. */
static void writes_under_guard()
{
    paddock::client client(hosts), second(hosts);
    paddock::mutex m(client, "/cpp/guarded"), lost(second, "/cpp/guarded-2");
    const std::string record = "/cpp/guarded-record", large(256 * 1024 + 1, '\0');
    {
        std::lock_guard held(m);
        m.guarded_create(record, "first");
        m.guarded_set(record, "second", 0);
        m.guarded_set(record, "", 1, 10s);
        CHECK(thrown([&] { m.guarded_set(record, "late", 1, std::chrono::steady_clock::now() + 10s); }) ==
              PDK_ECONFLICT);
        CHECK(thrown([&] { m.guarded_create(record, "", 10s); }) == PDK_ECONFLICT);
        CHECK(thrown([&] { m.guarded_set(record, large); }) == PDK_EINVAL);
        CHECK(thrown([&] { m.guarded_create(record, large); }) == PDK_EINVAL);
        CHECK(thrown([&] { m.guarded_set("/cpp/none", ""); }) == std::errc::no_such_file_or_directory);
        CHECK(thrown([&] { m.guarded_delete("relative"); }) == PDK_EPATH);
        m.guarded_set(record, "any");
        CHECK(thrown([&] { m.guarded_delete(record, 2); }) == PDK_ECONFLICT);
        m.guarded_delete(record, 3, 10s);
        CHECK(thrown([&] { m.guarded_delete(record); }) == PDK_ENOENT);
    }
    CHECK(thrown([&] { m.guarded_create(record, ""); }) == PDK_EPERM);
    lost.on_unlock_error([](std::error_code, const std::string &) {});
    std::lock_guard held(lost);
    second.close();
    CHECK(thrown([&] { lost.guarded_create(record, "late", 0s); }) == PDK_ELOST);
}

static void writes_under_permits()
{
    paddock::client client(hosts);
    paddock::semaphore s(client, "/cpp/guarded-permits", 2);
    const std::string record = "/cpp/guarded-permits-record";
    pdk_write write{PDK_WRITE_CREATE, record.c_str(), "x", 1, -1};
    CHECK(thrown([&] { s.guarded_create(record, ""); }) == std::errc::invalid_argument);
    paddock::permit both = s.acquire(2);
    both.write(write);
    CHECK(thrown([&] { both.write(write, 10s); }) == PDK_ECONFLICT);
    write.kind = PDK_WRITE_DELETE;
    both.write(write, 10s);
    both.release();
    CHECK(thrown([&] { both.write(write); }) == PDK_EINVAL);
}

/* The library would take "/cpp/a" of "/cpp/a\0b", which is another lock. */
static void texts_are_whole()
{
    const std::string wrong("/cpp/a\0b", 8);
    CHECK(thrown([&] { paddock::client bad(wrong); }) == PDK_EINVAL);
    CHECK(thrown([&] { paddock::client_options().label(wrong); }) == PDK_EINVAL);
    CHECK(thrown([&] { paddock::client_options().auth("digest", wrong); }) == PDK_EINVAL);
    paddock::client client(hosts);
    CHECK(thrown([&] { client.stats().text({{"label", wrong}}); }) == PDK_EINVAL);
    CHECK(thrown([&] { paddock::mutex bad(client, wrong); }) == PDK_EPATH);
    CHECK(thrown([&] { paddock::semaphore bad(client, wrong, 1); }) == PDK_EPATH);
    CHECK(thrown([&] { paddock::leader bad(client, wrong); }) == PDK_EPATH);
    paddock::mutex m(client, "/cpp/a");
    CHECK(thrown([&] { paddock::once bad(m, wrong); }) == PDK_EINVAL);
    std::lock_guard held(m);
    CHECK(thrown([&] { m.guarded_create(wrong, ""); }) == PDK_EPATH);
    CHECK(thrown([&] { m.guarded_set(wrong, ""); }) == PDK_EPATH);
    CHECK(thrown([&] { m.guarded_delete(wrong); }) == PDK_EPATH);
}

static void jobs_by_key()
{
    paddock::client client(hosts), second(hosts);
    paddock::mutex m(client, "/cpp/jobs"), lost(second, "/cpp/jobs-2");
    paddock::once job(m, "2026-11-30"), next(m, "2026-12-01"), late(lost, "k");
    CHECK(!job.done() && job.last_run().token == 0 && job.last_run().status == -1);
    CHECK(thrown([&] { job.begin(); }) == PDK_EPERM && thrown([&] { job.end(0); }) == PDK_EPERM);
    std::int64_t token = 0;
    {
        std::lock_guard held(m);
        token = m.token();
        CHECK(job.begin());
        job.end(3);
        CHECK(!job.done(10s) && job.last_run().status == 3 && job.done_run().token == 0);
        CHECK(job.begin(10s));
        CHECK(thrown([&] { job.end(256); }) == std::errc::invalid_argument);
        job.end(0, 10s);
        CHECK(!job.begin());
    }
    const paddock::run run = job.done_run();
    CHECK(run.key == "2026-11-30" && !run.host.empty() && run.token == token && run.status == 0);
    CHECK(run.begun > paddock::run::time_point() && run.ended >= run.begun);
    CHECK(job.done() && !next.done() && next.last_run().key == run.key);
    {
        std::lock_guard held(m);
        m.guarded_delete("/cpp/jobs.last-run"); /* for the next compiler */
    }
    lost.on_unlock_error([](std::error_code, const std::string &) {});
    std::lock_guard held(lost);
    CHECK(late.begin());
    second.close();
    CHECK(thrown([&] { late.end(0, 0s); }) == PDK_ECLOSED);
}

/* One that moves goes on with what it has begun. */
static void jobs_by_period()
{
    paddock::client client(hosts);
    paddock::shared_mutex rw(client, "/cpp/periods");
    paddock::once job(rw, 1h), soon(rw, 500us), any(rw, "any");
    any.any();
    CHECK(job.age() == -1ms);
    {
        std::shared_lock held(rw);
        CHECK(thrown([&] { job.begin(); }) == PDK_ENOTSUP);
    }
    std::lock_guard held(rw);
    CHECK(job.begin() && job.age() == -1ms);
    paddock::once moved(std::move(job));
    moved.end(0);
    CHECK(!moved.begin() && moved.age() >= 0ms && moved.age() < 1h && !moved.done());
    CHECK(moved.last_run().key.empty() && moved.last_run().token == rw.token());
    while (!soon.begin())
        std::this_thread::yield();
    CHECK(any.begin() && any.done() && any.done_run().ended == paddock::run::time_point());
    paddock::mutex m(client, "/cpp/no-jobs");
    CHECK(thrown([&] { paddock::once bad(m, ""); }) == PDK_EINVAL);
    CHECK(thrown([&] { paddock::once bad(m, 0s); }) == PDK_EINVAL);
    CHECK(thrown([&] { paddock::once bad(m, -1s); }) == PDK_EINVAL);
    CHECK(thrown([&] { paddock::once bad(m, std::chrono::hours::max()); }) == PDK_EINVAL);
    rw.guarded_delete("/cpp/periods.last-run");
}

/* A copy is what one moment had, and outlives the client. */
static void statistics()
{
    std::optional<paddock::client_stats> last;
    {
        paddock::client client(hosts), other(hosts);
        CHECK(other.wait_for(10s));
        paddock::mutex m(client, "/cpp/stats"), busy(other, "/cpp/stats");
        const paddock::client_stats none = client.stats();
        std::unique_lock held(m);
        CHECK(!busy.try_lock());
        const paddock::client_stats now = client.stats();
        CHECK(none.count(PDK_STAT_HELD) == 0 && now.count(PDK_STAT_HELD) == 1 && now.count(PDK_STAT_GRANTS) == 1);
        CHECK(other.stats().failures(PDK_EBUSY) == 1 && other.stats().failures(PDK_EACCES) == 0);
        CHECK(other.stats().failures(std::make_error_code(std::errc::device_or_resource_busy)) == 0);
        CHECK(now.losses(PDK_LOSS_CLOSED) == 0);
        held.unlock();
        last = none;
        last = client.stats();
    }
    const paddock::client_stats copy = *last;
    CHECK(copy.native() == last->native() && copy.count(PDK_STAT_HELD) == 0 && copy.count(PDK_STAT_GRANTS) == 1);
    const paddock::histogram waits = copy.histogram(PDK_HISTOGRAM_WAIT);
    CHECK(waits.count() == 1 && waits.buckets.size() > 1 && waits.buckets.back().bound == INT64_MAX);
    CHECK(waits.buckets[0].bound < waits.buckets[1].bound && waits.buckets[0].count <= waits.buckets[1].count);
    CHECK(paddock::histogram().count() == 0);
    const std::string text = copy.text({{"path", "/a\"b"}, {"le", "refused"}});
    CHECK(text.find("paddock_grants_total{path=\"/a\\\"b\",source=\"servers\"} 1\n") != std::string::npos);
    CHECK(text.find("refused") == std::string::npos && text.find('\0') == std::string::npos);
    CHECK(text.size() > 6 && text.substr(text.size() - 6) == "# EOF\n");
    CHECK(copy.text({}, PDK_METRICS_PROMETHEUS).find("# EOF") == std::string::npos);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *fact;
        void (*run)();
    } facts[] = {
        {"the standard's lock holders hold a mutex", standard_holders},
        {"readers share, a writer excludes, and goes on as a reader", readers_and_a_writer},
        {"several paths are one lock", several_paths},
        {"errors are of one category, and compare with the standard's", errors},
        {"a lock that is lost in a scope is not silent", a_loss_is_not_silent},
        {"a loss is told to a function", a_loss_is_told},
        {"a lock moves while it is held, and its end gives it back", it_moves_while_it_is_held},
        {"permits are released by their end", permits},
        {"a leader leads, and resigns", a_leader},
        {"threads exclude each other", threads_exclude_each_other},
        {"options: turns, idle holds, unlocks that do not wait", options_of_locks},
        {"the end of an object gives back a read lock, too", the_end_gives_back_a_read_lock},
        {"times that are out of range are refused, or are the nearest there are", times_out_of_range},
        {"an error says its reason once", an_error_says_it_once},
        {"data of ZooKeeper's are written under a lock, or an error is thrown", writes_under_guard},
        {"data are written under permits, too", writes_under_permits},
        {"a text with a zero byte is refused", texts_are_whole},
        {"a job is done once for a KEY, and a run is a value", jobs_by_key},
        {"a job is done once in a period", jobs_by_period},
        {"statistics are a value, which outlives the client", statistics},
    };
    hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    int failed = 0;
    for (const auto &fact : facts) {
        try {
            fact.run();
            std::cout << "ok - " << fact.fact << std::endl;
        } catch (const failure &f) {
            std::cout << "not ok - " << fact.fact << ": line " << f.line << ": " << f.what << std::endl;
            failed = 1;
        } catch (const std::exception &e) {
            std::cout << "not ok - " << fact.fact << ": " << e.what() << std::endl;
            failed = 1;
        }
    }
    return failed;
}
