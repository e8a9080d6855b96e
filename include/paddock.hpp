/*
 * Paddock for C++17: locks of a fleet that std::unique_lock, std::shared_lock and std::scoped_lock can hold.
 *
 * Caveats, first:
 *  - Those of <paddock/lock.h> apply: a grant is a belief, LOST is final, a token has to go with what is written.
 *  - An error is a std::system_error whose code is of paddock::category(): a pdk_error. code() == std::errc::timed_out
 *    and the like work, too.
 *  - The standard's unlock() must not throw. A lock that was lost while it was held is not silent all the same: unlock()
 *    passes the error to the function that on_unlock_error() has set, and without one writes a line to the standard
 *    error. A paddock::guard throws it instead, at the end of its scope; release() throws it at once.
 *  - An object must outlive the calls that use it, and a client its locks. All classes but the guards can be moved, also
 *    while they are held, but not while a call of them is under way.
 *  - Functions that are set as callbacks run on the client's callback thread. They must not throw, nor wait for a lock.
 *    One that runs while its object ends goes on in its own time.
 *
 * A program links what C programs link: pkg-config --libs paddock. Nothing of C++ is in the library.
 */
#ifndef PADDOCK_HPP
#define PADDOCK_HPP

#include <paddock.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace paddock
{

/* --- errors ------------------------------------------------------------------------------------------------------ */

namespace detail
{

class error_category final : public std::error_category
{
  public:
    const char *name() const noexcept override { return "paddock"; }

    std::string message(int code) const override { return pdk_strerror(code); }

    std::error_condition default_error_condition(int code) const noexcept override
    {
        switch (code) {
        case PDK_EINVAL:
            return std::errc::invalid_argument;
        case PDK_ENOMEM:
            return std::errc::not_enough_memory;
        case PDK_EBUSY:
            return std::errc::device_or_resource_busy;
        case PDK_ETIMEDOUT:
            return std::errc::timed_out;
        case PDK_EPERM:
            return std::errc::operation_not_permitted;
        case PDK_EDEADLK:
            return std::errc::resource_deadlock_would_occur;
        case PDK_ECANCELED:
            return std::errc::operation_canceled;
        case PDK_EACCES:
            return std::errc::permission_denied;
        case PDK_ENOENT:
            return std::errc::no_such_file_or_directory;
        case PDK_EDISCONNECTED:
            return std::errc::not_connected;
        default:
            return {code, *this};
        }
    }
};

} // namespace detail

/* The category of all errors: a code is a pdk_error, its message that of pdk_strerror(). */
inline const std::error_category &category() noexcept
{
    static const detail::error_category instance;
    return instance;
}

/* Of CODE, 0 or a pdk_error. */
inline std::error_code make_error(int code) noexcept { return {code, category()}; }

/* What a lock does with the failure of an unlock() that must not throw. */
using unlock_error_handler = std::function<void(std::error_code error, const std::string &incident)>;

namespace detail
{

/* The incident of OBJECT's last failure in this thread, by READ, its ..._last_error(). */
template <class Object> std::string incident(Object *object, std::size_t (*read)(Object *, char *, std::size_t))
{
    char text[1024] = "";
    read(object, text, sizeof text);
    return text;
}

/* An incident has the code's message, which std::system_error would add once more. */
class incident_error final : public std::system_error
{
  public:
    incident_error(int code, const std::string &text) : std::system_error(make_error(code)), text_(text) {}

    const char *what() const noexcept override { return text_.what(); }

  private:
    std::runtime_error text_; /* a copy of it does not throw */
};

[[noreturn]] inline void raise(int code, const std::string &incident)
{
    if (incident.find(pdk_strerror(code)) != std::string::npos)
        throw incident_error(code, incident);
    if (incident.empty())
        throw std::system_error(make_error(code));
    throw std::system_error(make_error(code), incident);
}

inline void check(int code, const char *what)
{
    if (code < 0)
        raise(code, what);
}

/* Milliseconds, rounded up: a short wait is not a look. What is past is a look. */
template <class Rep, class Period> std::int64_t timeout_ms(const std::chrono::duration<Rep, Period> &time)
{
    using milliseconds = std::chrono::duration<std::int64_t, std::milli>;
    if (time <= time.zero())
        return 0;
    if (std::chrono::duration<double, std::milli>(time).count() >= 9e18)
        return PDK_FOREVER;
    return std::chrono::ceil<milliseconds>(time).count();
}

/* The difference of two times may be out of the range of their durations. A double has it to a thousandth of a
 * millisecond. */
template <class Clock, class Duration> std::int64_t timeout_ms(const std::chrono::time_point<Clock, Duration> &time)
{
    using milliseconds = std::chrono::duration<double, std::milli>;
    return timeout_ms(milliseconds(time.time_since_epoch()) - milliseconds(Clock::now().time_since_epoch()));
}

/* The value of an option, which is a day at most; -1, which every option refuses, where it is out of range. */
inline int option_ms(std::chrono::milliseconds time)
{
    bool fits = time.count() >= 0 && time <= std::chrono::hours(24);
    return fits ? static_cast<int>(time.count()) : -1;
}

/* The functions of objects, by number. The library may be about to call one while its object ends: then the number is
 * unknown, and nothing is called. */
template <class Functions> class registry
{
  public:
    registry() : number_(add(std::make_shared<Functions>())) {}
    ~registry() { remove(); }
    registry(registry &&other) noexcept : number_(std::exchange(other.number_, 0)) {}

    registry &operator=(registry &&other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }

    /* What the library gets as the argument of a callback. */
    void *argument() const noexcept { return reinterpret_cast<void *>(number_); }

    std::shared_ptr<Functions> functions() const { return find(argument()); }

    static std::shared_ptr<Functions> find(void *argument)
    {
        std::lock_guard<std::mutex> held(mutex());
        auto found = all().find(reinterpret_cast<std::uintptr_t>(argument));
        return found != all().end() ? found->second : nullptr;
    }

  private:
    static std::mutex &mutex()
    {
        static std::mutex instance;
        return instance;
    }

    static std::map<std::uintptr_t, std::shared_ptr<Functions>> &all()
    {
        static std::map<std::uintptr_t, std::shared_ptr<Functions>> instance;
        return instance;
    }

    static std::uintptr_t add(std::shared_ptr<Functions> functions)
    {
        static std::uintptr_t last;
        std::lock_guard<std::mutex> held(mutex());
        all()[++last] = std::move(functions);
        return last;
    }

    void remove() noexcept
    {
        std::lock_guard<std::mutex> held(mutex());
        all().erase(number_);
    }

    std::uintptr_t number_;
};

} // namespace detail

/* --- the client -------------------------------------------------------------------------------------------------- */

/* As pdk_client_options; each setter throws the error of its namesake. */
class client_options
{
  public:
    client_options() : options_(pdk_client_options_new())
    {
        if (options_ == nullptr)
            throw std::bad_alloc();
    }

    client_options &session_timeout(std::chrono::milliseconds timeout)
    {
        detail::check(pdk_client_options_set_session_timeout_ms(native(), detail::option_ms(timeout)),
                      "session timeout");
        return *this;
    }

    client_options &auth(const std::string &scheme, const std::string &credentials)
    {
        detail::check(pdk_client_options_add_auth(native(), scheme.c_str(), credentials.c_str()), "authentication");
        return *this;
    }

    client_options &acl(const std::string &scheme, const std::string &id, int permissions)
    {
        detail::check(pdk_client_options_add_acl(native(), scheme.c_str(), id.c_str(), permissions), "ACL");
        return *this;
    }

    client_options &label(const std::string &text)
    {
        detail::check(pdk_client_options_set_label(native(), text.c_str()), "label");
        return *this;
    }

    /* For what has no function here. Borrowed. */
    pdk_client_options *native() const noexcept { return options_.get(); }

  private:
    struct end {
        void operator()(pdk_client_options *options) const noexcept { pdk_client_options_free(options); }
    };
    std::unique_ptr<pdk_client_options, end> options_;
};

/* The buckets of a histogram, and the sum of all values. */
struct histogram {
    struct bucket {
        std::int64_t bound;  /* the largest value that it counts; the greatest number for the last bucket */
        std::uint64_t count; /* of the values up to there */
    };
    std::vector<bucket> buckets;
    std::uint64_t sum = 0;

    /* Of all values. */
    std::uint64_t count() const noexcept { return buckets.empty() ? 0 : buckets.back().count; }
};

/* What the counters of a client were at one moment, as pdk_stats: a value, without a connection to the client. Its
 * copies share one block of memory, which nothing changes. */
class client_stats
{
  public:
    /* Names and values that each line of a text has, as the labels of pdk_stats_format(). */
    using labels = std::vector<std::pair<std::string, std::string>>;

    explicit client_stats(pdk_client *client)
    {
        pdk_stats *copy = nullptr;
        detail::check(pdk_client_stats(client, &copy), "statistics");
        stats_.reset(copy, pdk_stats_free);
    }

    std::uint64_t count(pdk_stat what) const noexcept { return pdk_stats_count(native(), what); }
    std::uint64_t losses(pdk_loss reason) const noexcept { return pdk_stats_losses(native(), reason); }

    /* A pdk_error is a std::error_code, too. */
    std::uint64_t failures(std::error_code error) const noexcept
    {
        return error.category() == category() ? pdk_stats_failures(native(), error.value()) : 0;
    }

    paddock::histogram histogram(pdk_histogram which) const
    {
        paddock::histogram result;
        for (std::size_t i = 0; i < pdk_stats_buckets(native(), which); i++)
            result.buckets.push_back({pdk_stats_bound(native(), which, i), pdk_stats_bucket(native(), which, i)});
        result.sum = pdk_stats_sum(native(), which);
        return result;
    }

    /* For a monitoring system: OpenMetrics, or the format of Prometheus' textfile collector. */
    std::string text(const labels &each = {}, pdk_metrics format = PDK_METRICS_OPENMETRICS) const
    {
        std::vector<const char *> names;
        for (const auto &label : each) {
            names.push_back(label.first.c_str());
            names.push_back(label.second.c_str());
        }
        names.push_back(nullptr);
        std::string text(pdk_stats_format(native(), format, names.data(), nullptr, 0), '\0');
        pdk_stats_format(native(), format, names.data(), text.data(), text.size() + 1);
        return text;
    }

    /* For what has no function here. Borrowed. */
    const pdk_stats *native() const noexcept { return stats_.get(); }

  private:
    std::shared_ptr<const pdk_stats> stats_;
};

/* A session, as pdk_client. The destructor closes it: its locks are LOST, and threads that wait throw PDK_ECLOSED. */
class client
{
  public:
    explicit client(const std::string &hosts, const client_options &options = {})
    {
        pdk_client *made = nullptr;
        int rc = pdk_client_new(&made, hosts.c_str(), options.native());
        if (rc < 0)
            detail::raise(rc, detail::incident<pdk_client>(nullptr, pdk_client_last_error));
        client_.reset(made);
    }

    /* Wait until the session is connected. False: not in TIME. */
    template <class Rep, class Period> bool wait_for(const std::chrono::duration<Rep, Period> &time)
    {
        int rc = pdk_client_wait(native(), detail::timeout_ms(time));
        if (rc == PDK_ETIMEDOUT)
            return false;
        if (rc < 0)
            detail::raise(rc, detail::incident(native(), pdk_client_last_error));
        return true;
    }

    /* End the session now, rather than in the destructor. */
    void close()
    {
        int rc = pdk_client_close(native());
        if (rc < 0)
            detail::raise(rc, detail::incident(native(), pdk_client_last_error));
    }

    /* Wait until the releases that have begun are over. False: not in TIME. */
    template <class Rep, class Period> bool flush_for(const std::chrono::duration<Rep, Period> &time)
    {
        int rc = pdk_client_flush(native(), detail::timeout_ms(time));
        if (rc < 0 && rc != PDK_ETIMEDOUT)
            detail::raise(rc, detail::incident(native(), pdk_client_last_error));
        return rc == 0;
    }

    void flush() { flush_for(std::chrono::milliseconds::max()); }

    pdk_session_state state() const noexcept { return pdk_client_state(native()); }
    std::int64_t session_id() const noexcept { return pdk_client_session_id(native()); }

    /* A copy of the counters. No request. */
    client_stats stats() const { return client_stats(native()); }

    /* For what has no function here. Borrowed. */
    pdk_client *native() const noexcept { return client_.get(); }

  private:
    struct end {
        void operator()(pdk_client *client) const noexcept { pdk_client_free(client); }
    };
    std::unique_ptr<pdk_client, end> client_;
};

/* --- what the locks have in common --------------------------------------------------------------------------------- */

namespace detail
{

/* The C functions of one kind of lock. give_back() releases whatever the calling thread holds. */
struct mutex_calls {
    static constexpr auto lock = pdk_mutex_lock;
    static constexpr auto trylock = pdk_mutex_trylock;
    static constexpr auto timedlock = pdk_mutex_timedlock;
    static constexpr auto unlock = pdk_mutex_unlock;
    static constexpr auto give_back = pdk_mutex_unlock;
};

struct rwlock_calls {
    static constexpr auto lock = pdk_rwlock_wrlock;
    static constexpr auto trylock = pdk_rwlock_trywrlock;
    static constexpr auto timedlock = pdk_rwlock_timedwrlock;
    static constexpr auto unlock = pdk_rwlock_wrunlock;

    /* A lock for reading may be under the one for writing. */
    static int give_back(pdk_lock *held) noexcept
    {
        int rc = pdk_rwlock_rdunlock(held);
        return rc == PDK_EPERM ? pdk_rwlock_wrunlock(held) : rc;
    }
};

struct multilock_calls {
    static constexpr auto lock = pdk_multilock_lock;
    static constexpr auto trylock = pdk_multilock_trylock;
    static constexpr auto timedlock = pdk_multilock_timedlock;
    static constexpr auto unlock = pdk_multilock_unlock;
    static constexpr auto give_back = pdk_multilock_unlock;
};

/* The object, and the program's functions. */
template <class Calls> class lockable
{
  public:
    using event_function = std::function<void(const pdk_event &event)>;

    /* Lock; returns only with a grant that is valid. */
    void lock() { check(Calls::lock(native())); }

    /* Lock if the lock is free. */
    bool try_lock() { return granted(Calls::trylock(native())); }

    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return granted(Calls::timedlock(native(), timeout_ms(time)));
    }

    template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return granted(Calls::timedlock(native(), timeout_ms(time)));
    }

    /* Unlock; an error goes to the handler of on_unlock_error(). */
    void unlock() noexcept { report(Calls::unlock(native())); }

    /* Unlock, and throw when the lock was lost (PDK_ELOST), or when no server has confirmed (PDK_EUNKNOWN). */
    void release() { check(Calls::unlock(native())); }

    /* The state of the calling thread's grant, and for how long it is certain to last. No request. */
    pdk_state state() const noexcept { return pdk_lock_state(native()); }
    std::chrono::milliseconds valid() const noexcept { return std::chrono::milliseconds(pdk_lock_valid_ms(native())); }

    /* What unlock() does with an error. An empty function: a line on the standard error. Before the first lock. */
    void on_unlock_error(unlock_error_handler handler) { program_.functions()->unlock_error = std::move(handler); }

    /* Called with each event that the program did not ask for. Before the first lock. */
    void on_event(event_function function)
    {
        bool wanted = static_cast<bool>(function);
        program_.functions()->event = std::move(function);
        check(pdk_lock_on_event(native(), wanted ? happened : nullptr, program_.argument()));
    }

    /* For what has no function here. Borrowed. */
    pdk_lock *native() const noexcept { return object_.get(); }

  protected:
    explicit lockable(pdk_lock *made) : object_(made) {}

    void check(int rc) const
    {
        if (rc < 0)
            raise(rc, incident(native(), pdk_lock_last_error));
    }

    bool granted(int rc) const
    {
        if (rc == PDK_EBUSY || rc == PDK_ETIMEDOUT)
            return false;
        check(rc);
        return true;
    }

    void report(int rc) const noexcept
    {
        if (rc < 0)
            tell(make_error(rc), incident(native(), pdk_lock_last_error));
    }

  private:
    struct program {
        event_function event;
        unlock_error_handler unlock_error;
    };

    /* What this thread holds is given back. A lock that another thread holds, or waits for, is a broken program's: it
     * ends, as it would with a std::mutex at best. */
    struct end {
        void operator()(pdk_lock *lock) const noexcept
        {
            int rc = pdk_lock_free(lock);
            while (rc == PDK_EBUSY && Calls::give_back(lock) != PDK_EPERM)
                rc = pdk_lock_free(lock);
            if (rc == PDK_EBUSY)
                std::terminate();
        }
    };

    static void happened(pdk_lock *, const pdk_event *event, void *argument) noexcept
    {
        if (auto functions = registry<program>::find(argument))
            functions->event(*event);
    }

    void tell(std::error_code error, const std::string &text) const noexcept
    {
        if (auto functions = program_.functions(); functions->unlock_error)
            functions->unlock_error(error, text);
        else
            std::fprintf(stderr, "paddock: %s\n", text.empty() ? pdk_strerror(error.value()) : text.c_str());
    }

    registry<program> program_;
    std::unique_ptr<pdk_lock, end> object_;
};

} // namespace detail

/* --- options of locks -------------------------------------------------------------------------------------------- */

/* As pdk_lock_options; each setter throws the error of its namesake. A lock for which one has no meaning throws
 * PDK_ENOTSUP. */
class lock_options
{
  public:
    lock_options() : options_(pdk_lock_options_new())
    {
        if (options_ == nullptr)
            throw std::bad_alloc();
    }

    lock_options &min_token(std::int64_t token)
    {
        detail::check(pdk_lock_options_set_min_token(native(), token), "least token");
        return *this;
    }

    lock_options &confirmed(bool yes = true)
    {
        detail::check(pdk_lock_options_set_confirmed(native(), yes), "confirmed grants");
        return *this;
    }

    lock_options &lock_delay(std::chrono::milliseconds time)
    {
        detail::check(pdk_lock_options_set_lock_delay_ms(native(), detail::option_ms(time)), "lock delay");
        return *this;
    }

    lock_options &look_ahead(bool yes = true)
    {
        detail::check(pdk_lock_options_set_look_ahead(native(), yes), "look-ahead");
        return *this;
    }

    lock_options &refuse_mixed(bool yes = true)
    {
        detail::check(pdk_lock_options_set_refuse_mixed(native(), yes), "refusal of mixed recipes");
        return *this;
    }

    lock_options &unlock_nowait(bool yes = true)
    {
        detail::check(pdk_lock_options_set_unlock_nowait(native(), yes), "unlock without waiting");
        return *this;
    }

    lock_options &local_handover(unsigned budget)
    {
        detail::check(pdk_lock_options_set_local_handover(native(), budget), "local hand-over");
        return *this;
    }

    lock_options &idle_hold(std::chrono::milliseconds time)
    {
        detail::check(pdk_lock_options_set_idle_hold_ms(native(), detail::option_ms(time)), "idle hold");
        return *this;
    }

    /* For what has no function here. Borrowed. */
    pdk_lock_options *native() const noexcept { return options_.get(); }

  private:
    struct end {
        void operator()(pdk_lock_options *options) const noexcept { pdk_lock_options_free(options); }
    };
    std::unique_ptr<pdk_lock_options, end> options_;
};

/* --- the mutex --------------------------------------------------------------------------------------------------- */

/* As pdk_mutex. Meets Lockable and TimedLockable. An owner can lock again, as with a std::recursive_mutex. */
class mutex : public detail::lockable<detail::mutex_calls>
{
  public:
    /* OPTIONS are copied. */
    mutex(client &c, const std::string &path, const pdk_lock_options *options = nullptr)
        : lockable(make(c, path, options))
    {
    }

    mutex(client &c, const std::string &path, const lock_options &options) : mutex(c, path, options.native()) {}

    /* The token of the calling thread's grant. */
    std::int64_t token() const
    {
        std::int64_t token = 0;
        check(pdk_lock_token(native(), &token));
        return token;
    }

    /* The number of its turn under its node. The pair of token and turn rises with every owner. */
    std::uint64_t turn() const
    {
        std::uint64_t turn = 0;
        check(pdk_lock_turn(native(), &turn));
        return turn;
    }

  private:
    static pdk_mutex *make(client &c, const std::string &path, const pdk_lock_options *options)
    {
        pdk_mutex *made = nullptr;
        detail::check(pdk_mutex_new(&made, c.native(), path.c_str(), options), path.c_str());
        return made;
    }
};

/* As pdk_rwlock. Meets Lockable and TimedLockable for writing, SharedLockable and SharedTimedLockable for reading. */
class shared_mutex : public detail::lockable<detail::rwlock_calls>
{
  public:
    /* OPTIONS are copied. */
    shared_mutex(client &c, const std::string &path, const pdk_lock_options *options = nullptr)
        : lockable(make(c, path, options))
    {
    }

    shared_mutex(client &c, const std::string &path, const lock_options &options)
        : shared_mutex(c, path, options.native())
    {
    }

    void lock_shared() { check(pdk_rwlock_rdlock(native())); }

    bool try_lock_shared() { return granted(pdk_rwlock_tryrdlock(native())); }

    template <class Rep, class Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
    {
        return granted(pdk_rwlock_timedrdlock(native(), detail::timeout_ms(time)));
    }

    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return granted(pdk_rwlock_timedrdlock(native(), detail::timeout_ms(time)));
    }

    /* As unlock() and release(), of a lock for reading. */
    void unlock_shared() noexcept { report(pdk_rwlock_rdunlock(native())); }
    void release_shared() { check(pdk_rwlock_rdunlock(native())); }

    /* The token of the calling thread's grant. */
    std::int64_t token() const
    {
        std::int64_t token = 0;
        check(pdk_lock_token(native(), &token));
        return token;
    }

    /* As that of a mutex. */
    std::uint64_t turn() const
    {
        std::uint64_t turn = 0;
        check(pdk_lock_turn(native(), &turn));
        return turn;
    }

  private:
    static pdk_rwlock *make(client &c, const std::string &path, const pdk_lock_options *options)
    {
        pdk_rwlock *made = nullptr;
        detail::check(pdk_rwlock_new(&made, c.native(), path.c_str(), options), path.c_str());
        return made;
    }
};

/* Several paths as one lock, as pdk_multilock. Meets Lockable and TimedLockable. Where all locks are of one client it
 * replaces std::scoped_lock over several, which tries one after another. */
class multi_mutex : public detail::lockable<detail::multilock_calls>
{
  public:
    /* OPTIONS are copied. */
    multi_mutex(client &c, const std::vector<std::string> &paths, const pdk_lock_options *options = nullptr)
        : lockable(make(c, paths, options))
    {
    }

    multi_mutex(client &c, const std::vector<std::string> &paths, const lock_options &options)
        : multi_mutex(c, paths, options.native())
    {
    }

    /* The token of the calling thread's grant on path I, from 0. */
    std::int64_t token(unsigned i = 0) const
    {
        std::int64_t token = 0;
        check(pdk_multilock_token(native(), i, &token));
        return token;
    }

  private:
    static pdk_multilock *make(client &c, const std::vector<std::string> &paths, const pdk_lock_options *options)
    {
        std::vector<const char *> texts;
        for (const std::string &path : paths)
            texts.push_back(path.c_str());
        pdk_multilock *made = nullptr;
        detail::check(pdk_multilock_new(&made, c.native(), texts.data(), static_cast<unsigned>(texts.size()), options),
                      "multi-lock");
        return made;
    }
};

/* --- guards ------------------------------------------------------------------------------------------------------ */

/* Holds LOCK for a scope, as std::lock_guard. At its end a loss throws; while another exception is on its way, the loss
 * goes to the handler of on_unlock_error(). */
template <class Lock> class guard
{
  public:
    explicit guard(Lock &lock) : lock_(lock), exceptions_(std::uncaught_exceptions()) { lock_.lock(); }

    ~guard() noexcept(false)
    {
        if (std::uncaught_exceptions() > exceptions_)
            lock_.unlock();
        else
            lock_.release();
    }

    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;

  private:
    Lock &lock_;
    int exceptions_;
};

/* The same for reading, as std::shared_lock. */
template <class Lock> class shared_guard
{
  public:
    explicit shared_guard(Lock &lock) : lock_(lock), exceptions_(std::uncaught_exceptions()) { lock_.lock_shared(); }

    ~shared_guard() noexcept(false)
    {
        if (std::uncaught_exceptions() > exceptions_)
            lock_.unlock_shared();
        else
            lock_.release_shared();
    }

    shared_guard(const shared_guard &) = delete;
    shared_guard &operator=(const shared_guard &) = delete;

  private:
    Lock &lock_;
    int exceptions_;
};

/* --- the semaphore ----------------------------------------------------------------------------------------------- */

/* One acquisition of permits, as pdk_grant. The destructor releases it; what that would throw is a line on the standard error. */
class permit
{
  public:
    permit() = default;
    explicit permit(pdk_grant *taken) : permit_(taken) {}

    explicit operator bool() const noexcept { return permit_ != nullptr; }

    /* Release the permits, and throw when they were lost. Nothing happens when there are none any more. */
    void release()
    {
        if (permit_ == nullptr)
            return;
        int rc = pdk_grant_release(permit_.get());
        if (rc != PDK_EDEADLK && rc != PDK_EFORKED) /* the handle stays with these */
            permit_.release();
        detail::check(rc, "release of permits");
    }

    pdk_state state() const noexcept { return pdk_grant_state(native()); }
    std::chrono::milliseconds valid() const noexcept { return std::chrono::milliseconds(pdk_grant_valid_ms(native())); }
    unsigned count() const noexcept { return pdk_grant_count(native()); }

    std::int64_t token() const
    {
        std::int64_t token = 0;
        detail::check(pdk_grant_token(native(), &token), "token of a permit");
        return token;
    }

    /* For what has no function here. Borrowed. */
    pdk_grant *native() const noexcept { return permit_.get(); }

  private:
    struct end {
        void operator()(pdk_grant *taken) const noexcept
        {
            int rc = pdk_grant_release(taken);
            if (rc == PDK_EDEADLK)
                rc = pdk_grant_release_async(taken, nullptr, nullptr);
            if (rc < 0)
                std::fprintf(stderr, "paddock: release of permits: %s\n", pdk_strerror(rc));
        }
    };
    std::unique_ptr<pdk_grant, end> permit_;
};

/* As pdk_semaphore. Permits must be released before it ends. */
class semaphore
{
  public:
    /* OPTIONS are copied. */
    semaphore(client &c, const std::string &path, unsigned limit, const pdk_lock_options *options = nullptr)
    {
        pdk_semaphore *made = nullptr;
        detail::check(pdk_semaphore_new(&made, c.native(), path.c_str(), limit, options), path.c_str());
        semaphore_.reset(made);
    }

    semaphore(client &c, const std::string &path, unsigned limit, const lock_options &options)
        : semaphore(c, path, limit, options.native())
    {
    }

    /* Acquire N permits, all or none. */
    permit acquire(unsigned n = 1)
    {
        pdk_grant *taken = nullptr;
        int rc = pdk_semaphore_acquire(native(), n, &taken);
        if (rc < 0)
            detail::raise(rc, detail::incident(native(), pdk_lock_last_error));
        return permit(taken);
    }

    /* Empty when fewer are free. */
    std::optional<permit> try_acquire(unsigned n = 1)
    {
        pdk_grant *taken = nullptr;
        int rc = pdk_semaphore_tryacquire(native(), n, &taken);
        return taken_or_not(rc, taken);
    }

    template <class Rep, class Period>
    std::optional<permit> try_acquire_for(const std::chrono::duration<Rep, Period> &time, unsigned n = 1)
    {
        pdk_grant *taken = nullptr;
        int rc = pdk_semaphore_timedacquire(native(), n, detail::timeout_ms(time), &taken);
        return taken_or_not(rc, taken);
    }

    /* For what has no function here. Borrowed. */
    pdk_semaphore *native() const noexcept { return semaphore_.get(); }

  private:
    std::optional<permit> taken_or_not(int rc, pdk_grant *taken) const
    {
        if (rc == PDK_EBUSY || rc == PDK_ETIMEDOUT)
            return std::nullopt;
        if (rc < 0)
            detail::raise(rc, detail::incident(native(), pdk_lock_last_error));
        return permit(taken);
    }

    struct end {
        void operator()(pdk_semaphore *semaphore) const noexcept
        {
            if (pdk_lock_free(semaphore) == PDK_EBUSY)
                std::terminate();
        }
    };
    std::unique_ptr<pdk_semaphore, end> semaphore_;
};

/* --- the leader -------------------------------------------------------------------------------------------------- */

/* A candidate, as pdk_leader. The destructor ends the candidacy; a caller that must know that the node is deleted
 * resigns before. */
class leader
{
  public:
    using event_function = std::function<void(const pdk_event &event)>;

    leader(client &c, const std::string &path, const std::string &id = {})
    {
        std::unique_ptr<pdk_leader_options, options_end> options(pdk_leader_options_new());
        if (options == nullptr)
            throw std::bad_alloc();
        if (!id.empty())
            detail::check(pdk_leader_options_set_id(options.get(), id.c_str()), "id");
        pdk_leader *made = nullptr;
        detail::check(pdk_leader_new(&made, c.native(), path.c_str(), options.get()), path.c_str());
        leader_.reset(made);
    }

    /* Called with each event, on the client's callback thread. Before start(). */
    void on_event(event_function function)
    {
        bool wanted = static_cast<bool>(function);
        *function_.functions() = std::move(function);
        check(pdk_lock_on_event(native(), wanted ? happened : nullptr, function_.argument()));
    }

    void start() { check(pdk_leader_start(native())); }

    /* End the candidacy, and wait until the node is deleted. */
    void resign() { check(pdk_leader_resign(native())); }

    /* Does it lead, after TIME at most? */
    template <class Rep, class Period> bool wait_for(const std::chrono::duration<Rep, Period> &time)
    {
        int rc = pdk_leader_wait(native(), detail::timeout_ms(time));
        if (rc != PDK_ETIMEDOUT)
            check(rc);
        return rc == 0;
    }

    void wait() { check(pdk_leader_wait(native(), PDK_FOREVER)); }

    bool is_leader() const noexcept { return pdk_leader_is_leader(native()); }
    std::chrono::milliseconds valid() const noexcept { return std::chrono::milliseconds(pdk_lock_valid_ms(native())); }

    std::int64_t token() const
    {
        std::int64_t token = 0;
        check(pdk_lock_token(native(), &token));
        return token;
    }

    /* For what has no function here. Borrowed. */
    pdk_leader *native() const noexcept { return leader_.get(); }

  private:
    struct options_end {
        void operator()(pdk_leader_options *options) const noexcept { pdk_leader_options_free(options); }
    };

    struct end {
        void operator()(pdk_leader *leader) const noexcept { pdk_lock_free(leader); }
    };

    static void happened(pdk_leader *, const pdk_event *event, void *argument) noexcept
    {
        if (auto function = detail::registry<event_function>::find(argument))
            (*function)(*event);
    }

    void check(int rc) const
    {
        if (rc < 0)
            detail::raise(rc, detail::incident(native(), pdk_lock_last_error));
    }

    detail::registry<event_function> function_;
    std::unique_ptr<pdk_leader, end> leader_;
};

} // namespace paddock

/* error.code() == PDK_ELOST */
template <> struct std::is_error_code_enum<pdk_error> : std::true_type {
};
inline std::error_code make_error_code(pdk_error error) noexcept { return paddock::make_error(error); }

#endif
