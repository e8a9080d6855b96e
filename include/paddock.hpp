/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddock for C++17: locks of a fleet that std::unique_lock, std::shared_lock and std::scoped_lock can hold.
 *
 * Caveats, first:
 *  - Those of <paddock/lock.h> apply: a grant is a belief, LOST is final, a token has to go with what is written.
 *  - An error is a std::system_error whose code is of paddock::category(): a pdk_error. code() == std::errc::timed_out
 *    and the like work, too.
 *  - The standard's unlock() must not throw. A lock that was lost while it was held is not silent all the same:
 *    unlock() passes the error to the function that on_unlock_error() has set, and without one writes a line to the
 *    standard error. A paddock::guard throws it instead, at the end of its scope; release() throws it at once.
 *  - An object must outlive the calls that use it, and a client its locks. All classes but the guards can be moved,
 *    also while they are held, but not while a call of them is under way.
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
        static constexpr struct {
            int code;
            std::errc condition;
        } known[] = {
            {PDK_EINVAL, std::errc::invalid_argument},          {PDK_ENOMEM, std::errc::not_enough_memory},
            {PDK_EBUSY, std::errc::device_or_resource_busy},    {PDK_ETIMEDOUT, std::errc::timed_out},
            {PDK_EPERM, std::errc::operation_not_permitted},    {PDK_EDEADLK, std::errc::resource_deadlock_would_occur},
            {PDK_ECANCELED, std::errc::operation_canceled},     {PDK_EACCES, std::errc::permission_denied},
            {PDK_ENOENT, std::errc::no_such_file_or_directory}, {PDK_EDISCONNECTED, std::errc::not_connected}};
        for (const auto &each : known)
            if (each.code == code)
                return each.condition;
        return {code, *this};
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

/* A TEXT for the library, which would take it up to the first zero byte. CODE is the error of one that has such. */
inline const char *whole(const std::string &text, int code = PDK_EINVAL)
{
    if (text.find('\0') != std::string::npos)
        raise(code, "a text has a zero byte");
    return text.c_str();
}
inline const char *whole_path(const std::string &path) { return whole(path, PDK_EPATH); }

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

/* The functions of an object, by number. The library may be about to call one while its object ends: then the number is
 * unknown, and nothing is called. */
template <class Functions> class registry
{
  public:
    registry() : functions_(std::make_shared<Functions>()), number_(add(functions_)) {}

    /* What the library gets as the argument of a callback. */
    void *argument() const noexcept { return reinterpret_cast<void *>(number_); }
    const std::shared_ptr<Functions> &functions() const { return functions_; }

    static std::shared_ptr<Functions> find(void *argument)
    {
        std::lock_guard<std::mutex> held(shared().mutex);
        auto found = shared().all.find(reinterpret_cast<std::uintptr_t>(argument));
        return found != shared().all.end() ? found->second.lock() : nullptr;
    }

  private:
    struct table {
        std::mutex mutex;
        std::map<std::uintptr_t, std::weak_ptr<Functions>> all;
        std::uintptr_t last = 0;
    };

    static table &shared()
    {
        static table instance;
        return instance;
    }

    static std::uintptr_t add(const std::shared_ptr<Functions> &functions)
    {
        std::lock_guard<std::mutex> held(shared().mutex);
        for (auto each = shared().all.begin(); each != shared().all.end();)
            each->second.expired() ? each = shared().all.erase(each) : ++each;
        shared().all[++shared().last] = functions;
        return shared().last;
    }

    std::shared_ptr<Functions> functions_;
    std::uintptr_t number_;
};

/* The end of what a unique_ptr has. */
template <auto end> struct ends {
    template <class Native> void operator()(Native *native) const noexcept { end(native); }
};

/* Options of the library, and the setters that a class derived from it has: SELF, of which a setter returns the
 * object. */
template <class Self, class Native, Native *(*make)(), void (*free)(Native *)> class options
{
  public:
    options() : options_(make())
    {
        if (options_ == nullptr)
            throw std::bad_alloc();
    }

    /* For what has no function here. Borrowed. */
    Native *native() const noexcept { return options_.get(); }

  protected:
    template <class Setter, class... Args> Self &set(const char *what, Setter setter, const Args &...args)
    {
        check(setter(native(), plain(args)...), what);
        return static_cast<Self &>(*this);
    }

  private:
    template <class Value> static Value plain(Value value) { return value; }
    static const char *plain(const std::string &text) { return whole(text); }

    /* A day at most; -1, which every option refuses, where it is out of range. */
    static int plain(std::chrono::milliseconds time)
    {
        bool fits = time.count() >= 0 && time <= std::chrono::hours(24);
        return fits ? static_cast<int>(time.count()) : -1;
    }

    std::unique_ptr<Native, ends<free>> options_;
};

} // namespace detail

/* --- the client -------------------------------------------------------------------------------------------------- */

/* As pdk_client_options; each setter throws the error of its namesake. */
class client_options
    : public detail::options<client_options, pdk_client_options, pdk_client_options_new, pdk_client_options_free>
{
  public:
    client_options &session_timeout(std::chrono::milliseconds timeout)
    {
        return set("session timeout", pdk_client_options_set_session_timeout_ms, timeout);
    }
    client_options &auth(const std::string &scheme, const std::string &credentials)
    {
        return set("authentication", pdk_client_options_add_auth, scheme, credentials);
    }
    client_options &acl(const std::string &scheme, const std::string &id, int permissions)
    {
        return set("ACL", pdk_client_options_add_acl, scheme, id, permissions);
    }
    client_options &label(const std::string &text) { return set("label", pdk_client_options_set_label, text); }
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
        std::int64_t bound = 0;
        std::uint64_t count = 0;
        for (std::size_t i = 0; pdk_stats_bucket(native(), which, i, &bound, &count); i++)
            result.buckets.push_back({bound, count});
        result.sum = pdk_stats_sum(native(), which);
        return result;
    }

    /* For a monitoring system: OpenMetrics, or the format of Prometheus' textfile collector. */
    std::string text(const labels &each = {}, pdk_metrics format = PDK_METRICS_OPENMETRICS) const
    {
        std::vector<const char *> names;
        for (const auto &label : each) {
            names.push_back(detail::whole(label.first));
            names.push_back(detail::whole(label.second));
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
        in_time(pdk_client_new(&made, detail::whole(hosts), options.native()));
        client_.reset(made);
    }

    /* Wait until the session is connected. False: not in TIME. */
    template <class Time> bool wait_for(const Time &time) { return wait(pdk_client_wait, detail::timeout_ms(time)); }

    /* End the session now, rather than in the destructor. */
    void close() { in_time(pdk_client_close(native())); }

    /* Wait until the releases that have begun are over. False: not in TIME. */
    template <class Time> bool flush_for(const Time &time) { return wait(pdk_client_flush, detail::timeout_ms(time)); }
    void flush() { wait(pdk_client_flush, PDK_FOREVER); }
    pdk_session_state state() const noexcept { return pdk_client_state(native()); }
    std::int64_t session_id() const noexcept { return pdk_client_session_id(native()); }

    /* A copy of the counters. No request. */
    client_stats stats() const { return client_stats(native()); }

    /* For what has no function here. Borrowed. */
    pdk_client *native() const noexcept { return client_.get(); }

  private:
    bool wait(int (*verb)(pdk_client *, std::int64_t), std::int64_t ms) { return in_time(verb(native(), ms)); }

    bool in_time(int rc) const
    {
        if (rc < 0 && rc != PDK_ETIMEDOUT)
            detail::raise(rc, detail::incident(native(), pdk_client_last_error));
        return rc == 0;
    }

    std::unique_ptr<pdk_client, detail::ends<pdk_client_free>> client_;
};

/* --- what the locks have in common ------------------------------------------------------------------------------- */

/* As pdk_lock_options; each setter throws the error of its namesake. A lock for which one has no meaning throws
 * PDK_ENOTSUP. A lock copies what it needs. */
class lock_options : public detail::options<lock_options, pdk_lock_options, pdk_lock_options_new, pdk_lock_options_free>
{
  public:
    lock_options &data(const std::string &bytes)
    {
        return set("data", pdk_lock_options_set_data, bytes.data(), bytes.size());
    }
    lock_options &min_token(std::int64_t token) { return set("token", pdk_lock_options_set_min_token, token); }
    lock_options &confirmed(bool yes = true) { return set("confirmed", pdk_lock_options_set_confirmed, yes); }
    lock_options &look_ahead(bool yes = true) { return set("look-ahead", pdk_lock_options_set_look_ahead, yes); }
    lock_options &refuse_mixed(bool yes = true) { return set("mixed", pdk_lock_options_set_refuse_mixed, yes); }
    lock_options &unlock_nowait(bool yes = true) { return set("nowait", pdk_lock_options_set_unlock_nowait, yes); }
    lock_options &lock_delay(std::chrono::milliseconds d)
    {
        return set("delay", pdk_lock_options_set_lock_delay_ms, d);
    }
    lock_options &keep(unsigned turns, std::chrono::milliseconds idle = {})
    {
        return set("keep", pdk_lock_options_set_keep, turns, idle);
    }
};

namespace detail
{

/* A pdk_lock of any kind. */
class object
{
  public:
    using event_function = std::function<void(const pdk_event &event)>;

    /* The state of the calling thread's grant, and for how long it is certain to last. No request. */
    pdk_state state() const noexcept { return pdk_lock_state(native()); }
    std::chrono::milliseconds valid() const noexcept { return std::chrono::milliseconds(pdk_lock_valid_ms(native())); }

    /* The token of the calling thread's grant, and the number of its turn. The pair rises with every owner. */
    std::int64_t token() const { return tokens().first; }
    std::uint64_t turn() const { return tokens().second; }

    /* Called with each event, on the client's callback thread. Before the first lock, or the start of a leader. */
    void on_event(event_function function)
    {
        bool wanted = static_cast<bool>(function);
        program_.functions()->event = std::move(function);
        check(pdk_lock_on_event(native(), wanted ? happened : nullptr, program_.argument()));
    }

    /* As pdk_guarded_set() and its siblings: a write in ZooKeeper itself, under the calling thread's grant. Throws
     * PDK_ELOST and PDK_ECONFLICT when it is refused. A semaphore throws PDK_EINVAL: permit::write(). */
    template <class Time = std::chrono::milliseconds>
    void guarded_set(const std::string &path, const std::string &data, std::int32_t version = -1,
                     const Time &time = Time::max())
    {
        check(pdk_guarded_set(native(), whole_path(path), data.data(), data.size(), version, timeout_ms(time)));
    }
    template <class Time = std::chrono::milliseconds>
    void guarded_create(const std::string &path, const std::string &data, const Time &time = Time::max())
    {
        check(pdk_guarded_create(native(), whole_path(path), data.data(), data.size(), timeout_ms(time)));
    }
    template <class Time = std::chrono::milliseconds>
    void guarded_delete(const std::string &path, std::int32_t version = -1, const Time &time = Time::max())
    {
        check(pdk_guarded_delete(native(), whole_path(path), version, timeout_ms(time)));
    }

    /* For what has no function here. Borrowed. */
    pdk_lock *native() const noexcept { return object_.get(); }

  protected:
    struct program {
        event_function event;
        unlock_error_handler unlock_error;
    };

    /* By MAKE, a ..._new(), with its arguments after the client. */
    template <class Make, class... Args> object(const char *what, Make make, client &c, Args... args)
    {
        pdk_lock *made = nullptr;
        detail::check(make(&made, c.native(), args...), what);
        object_.reset(made);
    }

    void check(int rc) const
    {
        if (rc < 0)
            raise(rc, incident(native(), pdk_lock_last_error));
    }

    bool granted(int rc) const
    {
        bool not_yet = rc == PDK_EBUSY || rc == PDK_ETIMEDOUT;
        check(not_yet ? 0 : rc);
        return !not_yet;
    }

    registry<program> program_;

  private:
    /* What this thread holds is given back. A lock that another thread holds, or waits for, is a broken program's: it
     * ends, as it would with a std::mutex at best. */
    struct end {
        void operator()(pdk_lock *lock) const noexcept
        {
            while (pdk_lock_free(lock) == PDK_EBUSY) {
                int rc = pdk_mutex_unlock(lock);
                if (rc == PDK_EINVAL)
                    rc = pdk_rwlock_unlock(lock);
                if (rc == PDK_EPERM || rc == PDK_EINVAL)
                    std::terminate();
            }
        }
    };

    static void happened(pdk_lock *, const pdk_event *event, void *argument) noexcept
    {
        if (auto functions = registry<program>::find(argument))
            functions->event(*event);
    }

    std::pair<std::int64_t, std::uint64_t> tokens() const
    {
        std::pair<std::int64_t, std::uint64_t> both{};
        check(pdk_lock_token(native(), &both.first, &both.second));
        return both;
    }

    std::unique_ptr<pdk_lock, end> object_;
};

/* A lock that is taken by TIMEDLOCK: with 0 it is a try. */
template <auto make, auto timedlock, auto give_back> class lockable : public object
{
  public:
    lockable(client &c, const std::string &path, const lock_options &options = {})
        : object(path.c_str(), make, c, whole_path(path), options.native())
    {
    }

    /* Lock; returns only with a grant that is valid. */
    void lock() { check(timedlock(native(), PDK_FOREVER)); }

    /* Lock if the lock is free. Throws PDK_EDISCONNECTED while no server is connected: client::wait_for(). */
    bool try_lock() { return in_time(0); }

    /* Likewise, and wait for a duration, or until a time point. */
    template <class Time> bool try_lock_for(const Time &time) { return in_time(timeout_ms(time)); }
    template <class Time> bool try_lock_until(const Time &time) { return in_time(timeout_ms(time)); }

    /* Unlock; an error goes to the handler of on_unlock_error(). */
    void unlock() noexcept
    {
        int rc = give_back(native());
        if (rc < 0)
            tell(make_error(rc), incident(native(), pdk_lock_last_error));
    }

    /* Unlock, and throw when the lock was lost (PDK_ELOST), or when no server has confirmed (PDK_EUNKNOWN). */
    void release() { check(give_back(native())); }

    /* What unlock() does with an error. An empty function: a line on the standard error. Before the first lock. */
    void on_unlock_error(unlock_error_handler handler) { program_.functions()->unlock_error = std::move(handler); }

  protected:
    using object::object;

  private:
    bool in_time(std::int64_t ms) { return granted(timedlock(native(), ms)); }

    void tell(std::error_code error, const std::string &text) const noexcept
    {
        if (auto functions = program_.functions(); functions->unlock_error)
            functions->unlock_error(error, text);
        else
            std::fprintf(stderr, "paddock: %s\n", text.empty() ? pdk_strerror(error.value()) : text.c_str());
    }
};

} // namespace detail

/* --- locks ------------------------------------------------------------------------------------------------------- */

/* As pdk_mutex. Meets Lockable and TimedLockable. An owner can lock again, as with a std::recursive_mutex. */
class mutex : public detail::lockable<pdk_mutex_new, pdk_mutex_timedlock, pdk_mutex_unlock>
{
  public:
    using lockable::lockable;
};

/* Several paths as one lock, as pdk_mutex_new_several(). Where all locks are of one client it replaces std::scoped_lock
 * over several, which tries one after another. */
class multi_mutex : public mutex
{
  public:
    multi_mutex(client &c, const std::vector<const char *> &paths, const lock_options &options = {})
        : mutex("several paths", pdk_mutex_new_several, c, paths.data(), static_cast<unsigned>(paths.size()),
                options.native())
    {
    }
};

/* As pdk_rwlock. Meets Lockable and TimedLockable for writing, SharedLockable and SharedTimedLockable for reading.
 * Each unlock gives back what the thread took last. */
class shared_mutex : public detail::lockable<pdk_rwlock_new, pdk_rwlock_timedwrlock, pdk_rwlock_unlock>
{
  public:
    using lockable::lockable;

    void lock_shared() { check(pdk_rwlock_rdlock(native())); }
    bool try_lock_shared() { return read(0); }
    template <class Time> bool try_lock_shared_for(const Time &time) { return read(detail::timeout_ms(time)); }
    template <class Time> bool try_lock_shared_until(const Time &time) { return try_lock_shared_for(time); }
    void unlock_shared() noexcept { unlock(); }

    /* The writer goes on as a reader, and no writer comes between. */
    void downgrade() { check(pdk_rwlock_downgrade(native())); }

  private:
    bool read(std::int64_t ms) { return granted(pdk_rwlock_timedrdlock(native(), ms)); }
};

/* --- guards ------------------------------------------------------------------------------------------------------ */

namespace detail
{

/* Holds LOCK for a scope. At its end a loss throws; while another exception is on its way, the loss goes to the handler
 * of on_unlock_error(). */
template <class Lock> class scope
{
  public:
    ~scope() noexcept(false)
    {
        if (std::uncaught_exceptions() > exceptions_)
            lock_.unlock();
        else
            lock_.release();
    }

    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

  protected:
    scope(Lock &lock, void (Lock::*take)()) : lock_(lock), exceptions_(std::uncaught_exceptions()) { (lock.*take)(); }

  private:
    Lock &lock_;
    int exceptions_;
};

} // namespace detail

/* As std::lock_guard, and for reading as std::shared_lock. */
template <class Lock> struct guard : detail::scope<Lock> {
    explicit guard(Lock &lock) : detail::scope<Lock>(lock, &Lock::lock) {}
};

template <class Lock> struct shared_guard : detail::scope<Lock> {
    explicit shared_guard(Lock &lock) : detail::scope<Lock>(lock, &Lock::lock_shared) {}
};

/* --- the semaphore ----------------------------------------------------------------------------------------------- */

/* One acquisition of permits, as pdk_grant. The destructor releases it; what that would throw is a line on the standard
 * error. */
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
        detail::check(pdk_grant_token(native(), &token, nullptr), "token of a permit");
        return token;
    }

    /* As pdk_grant_write(): a write in ZooKeeper itself, under all these permits. */
    template <class Time = std::chrono::milliseconds> void write(const pdk_write &what, const Time &time = Time::max())
    {
        detail::check(pdk_grant_write(native(), &what, detail::timeout_ms(time)), "write under permits");
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
class semaphore : public detail::object
{
  public:
    semaphore(client &c, const std::string &path, unsigned limit, const lock_options &options = {})
        : object(path.c_str(), pdk_semaphore_new, c, detail::whole_path(path), limit, options.native())
    {
    }

    /* Acquire N permits, all or none. */
    permit acquire(unsigned n = 1) { return *take(n, PDK_FOREVER); }

    /* Empty when fewer are free. */
    std::optional<permit> try_acquire(unsigned n = 1) { return take(n, 0); }
    template <class Time> std::optional<permit> try_acquire_for(const Time &time, unsigned n = 1)
    {
        return take(n, detail::timeout_ms(time));
    }

  private:
    std::optional<permit> take(unsigned n, std::int64_t ms)
    {
        pdk_grant *taken = nullptr;
        bool all = granted(pdk_semaphore_timedacquire(native(), n, ms, &taken));
        return all ? std::optional<permit>(taken) : std::nullopt;
    }
};

/* --- the leader -------------------------------------------------------------------------------------------------- */

/* A candidate, as pdk_leader. The destructor ends the candidacy; a caller that must know that the node is deleted
 * resigns before. */
class leader : public detail::object
{
  public:
    leader(client &c, const std::string &path, const lock_options &options = {}, pdk_leader_mode mode = PDK_LATCH)
        : object(path.c_str(), pdk_leader_new, c, detail::whole_path(path), mode, options.native())
    {
    }

    void start() { check(pdk_leader_start(native())); }

    /* End the candidacy, and wait until the node is deleted. */
    void resign() { check(pdk_leader_resign(native())); }

    /* End the term, and be a candidate again. */
    void yield() { check(pdk_leader_yield(native())); }

    /* Does it lead, after TIME at most? */
    template <class Time> bool wait_for(const Time &time)
    {
        return granted(pdk_leader_wait(native(), detail::timeout_ms(time)));
    }
    void wait() { check(pdk_leader_wait(native(), PDK_FOREVER)); }
};

/* --- jobs -------------------------------------------------------------------------------------------------------- */

/* A run in the record of a job, as pdk_runs: a value. Any client may have written it. */
struct run {
    using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

    run(const pdk_runs *runs, pdk_run which)
        : key(pdk_runs_text(runs, which, PDK_RUN_KEY)), host(pdk_runs_text(runs, which, PDK_RUN_HOST)),
          token(pdk_runs_number(runs, which, PDK_RUN_TOKEN)),
          begun(std::chrono::milliseconds(pdk_runs_number(runs, which, PDK_RUN_BEGUN_MS))),
          ended(std::chrono::milliseconds(pdk_runs_number(runs, which, PDK_RUN_ENDED_MS))),
          status(static_cast<int>(pdk_runs_number(runs, which, PDK_RUN_STATUS)))
    {
    }

    std::string key, host;
    std::int64_t token;      /* 0: there was no such run */
    time_point begun, ended; /* by the clock of the ensemble's leader; time_point() where they are not known */
    int status;              /* -1: no end is recorded */
};

/* As pdk_once: a job that is done once for KEY, or once in PERIOD, under a lock that must outlive it. */
class once
{
  public:
    /* A KEY with a zero byte is refused, as an empty one is. */
    once(detail::object &lock, const std::string &key) : once(lock, detail::whole(key), 0) {}
    template <class Rep, class Period>
    once(detail::object &lock, const std::chrono::duration<Rep, Period> &period)
        : once(lock, nullptr, detail::timeout_ms(period))
    {
    }

    /* Count every run from its beginning: at most once. Before the first call. */
    void any(bool yes = true) { check(pdk_once_set_any(native(), yes)); }

    /* Is it done? One request, without the lock. A job with a period is only known to be done by begin(). */
    template <class Time = std::chrono::milliseconds> bool done(const Time &time = Time::max())
    {
        return check(pdk_once_ask(native(), detail::timeout_ms(time))) == PDK_EDONE;
    }

    /* Begin a run under the calling thread's grant. True: it is recorded, and is to be done now. False: the job is
     * done. Throws PDK_ELOST, and PDK_ERECORD. */
    template <class Time = std::chrono::milliseconds> bool begin(const Time &time = Time::max())
    {
        return check(pdk_once_begin(native(), nullptr, detail::timeout_ms(time))) != PDK_EDONE;
    }

    /* Record that the run has ended; STATUS 0 is a success. Throws PDK_ELOST when the lock was lost before. */
    template <class Time = std::chrono::milliseconds> void end(int status, const Time &time = Time::max())
    {
        check(pdk_once_end(native(), status, detail::timeout_ms(time)));
    }

    /* The run that began last, and the last one that counts, as the last call has read or written them. */
    run last_run() const { return {pdk_once_runs(native()), PDK_RUN_LAST}; }
    run done_run() const { return {pdk_once_runs(native()), PDK_RUN_DONE}; }

    /* The age of the run that counted, as the last begin() has found it; -1 ms: it has not asked, or there was none. */
    std::chrono::milliseconds age() const noexcept { return std::chrono::milliseconds(pdk_once_age_ms(native())); }

    /* For what has no function here. Borrowed. */
    pdk_once *native() const noexcept { return once_.get(); }

  private:
    once(detail::object &lock, const char *key, std::int64_t period_ms) : lock_(lock.native())
    {
        pdk_once *made = nullptr;
        check(pdk_once_new(&made, lock_, key, period_ms));
        once_.reset(made);
    }

    int check(int rc) const
    {
        if (rc < 0 && rc != PDK_EDONE)
            detail::raise(rc, detail::incident(lock_, pdk_lock_last_error));
        return rc;
    }

    pdk_lock *lock_;
    std::unique_ptr<pdk_once, detail::ends<pdk_once_free>> once_;
};

} // namespace paddock

/* error.code() == PDK_ELOST */
template <> struct std::is_error_code_enum<pdk_error> : std::true_type {
};
inline std::error_code make_error_code(pdk_error error) noexcept { return paddock::make_error(error); }

#endif
