/* The named requirements of the standard that the locks meet. It only has to compile. */
#include <condition_variable>
#include <mutex>
#include <paddock.hpp>
#include <shared_mutex>

using namespace std::chrono_literals;

template <class T, class = void> struct is_timed_lockable : std::false_type {
};
template <class T>
struct is_timed_lockable<
    T, std::void_t<decltype(std::declval<T &>().lock()), decltype(std::declval<T &>().unlock()),
                   std::enable_if_t<std::is_same_v<bool, decltype(std::declval<T &>().try_lock())>>,
                   std::enable_if_t<std::is_same_v<bool, decltype(std::declval<T &>().try_lock_for(1s))>>,
                   std::enable_if_t<std::is_same_v<bool, decltype(std::declval<T &>().try_lock_until(
                                                             std::chrono::steady_clock::now()))>>>>
    : std::bool_constant<noexcept(std::declval<T &>().unlock())> {
};

template <class T, class = void> struct is_shared_timed_lockable : std::false_type {
};
template <class T>
struct is_shared_timed_lockable<
    T, std::void_t<decltype(std::declval<T &>().lock_shared()), decltype(std::declval<T &>().unlock_shared()),
                   std::enable_if_t<std::is_same_v<bool, decltype(std::declval<T &>().try_lock_shared())>>,
                   std::enable_if_t<std::is_same_v<bool, decltype(std::declval<T &>().try_lock_shared_for(1s))>>,
                   std::enable_if_t<std::is_same_v<bool, decltype(std::declval<T &>().try_lock_shared_until(
                                                             std::chrono::steady_clock::now()))>>>>
    : std::bool_constant<noexcept(std::declval<T &>().unlock_shared())> {
};

static_assert(is_timed_lockable<paddock::mutex>::value);
static_assert(is_timed_lockable<paddock::shared_mutex>::value);
static_assert(is_timed_lockable<paddock::multi_mutex>::value);
static_assert(is_shared_timed_lockable<paddock::shared_mutex>::value);
static_assert(!is_shared_timed_lockable<paddock::mutex>::value);

template <class T>
constexpr bool is_move_only = std::is_nothrow_move_constructible_v<T> &&std::is_nothrow_move_assignable_v<T> &&
                              !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;

static_assert(is_move_only<paddock::client>);
static_assert(is_move_only<paddock::mutex>);
static_assert(is_move_only<paddock::shared_mutex>);
static_assert(is_move_only<paddock::multi_mutex>);
static_assert(is_move_only<paddock::semaphore>);
static_assert(is_move_only<paddock::permit>);
static_assert(is_move_only<paddock::leader>);
static_assert(is_move_only<paddock::once>);
static_assert(std::is_copy_constructible_v<paddock::run> && std::is_copy_assignable_v<paddock::run>);
static_assert(!std::is_constructible_v<paddock::once, paddock::mutex &, std::chrono::steady_clock::time_point>);
static_assert(!std::is_move_constructible_v<paddock::guard<paddock::mutex>>);

/* Statistics are a value: a copy, and a text, may go anywhere. */
static_assert(std::is_copy_constructible_v<paddock::client_stats> && std::is_copy_assignable_v<paddock::client_stats>);
static_assert(std::is_nothrow_move_constructible_v<paddock::client_stats>);
static_assert(std::is_same_v<decltype(std::declval<const paddock::client &>().stats()), paddock::client_stats>);
static_assert(std::is_same_v<decltype(std::declval<const paddock::client_stats &>().text()), std::string>);
static_assert(noexcept(std::declval<const paddock::client_stats &>().count(PDK_STAT_HELD)));
static_assert(noexcept(std::declval<const paddock::client_stats &>().failures(PDK_EBUSY)));
static_assert(std::is_copy_constructible_v<paddock::histogram>);

/* The standard's own holders. */
void holders(paddock::mutex &a, paddock::mutex &b, paddock::shared_mutex &s, std::condition_variable_any &moved);
void holders(paddock::mutex &a, paddock::mutex &b, paddock::shared_mutex &s, std::condition_variable_any &moved)
{
    std::lock_guard<paddock::mutex> one(a);
    std::scoped_lock several(a, b, s);
    std::unique_lock<paddock::mutex> later(b, std::defer_lock);
    std::unique_lock<paddock::mutex> timed(b, 1s);
    std::shared_lock<paddock::shared_mutex> reader(s, std::chrono::steady_clock::now() + 1s);
    moved.wait(timed);
}
