# SPDX-License-Identifier: Apache-2.0
"""The declarations of the C library, and the name to load it by."""
# Made by generate from the headers: change those, and run it again.

SONAME = "libpaddock.so.1"

CDEF = """
enum pdk_error { PDK_OK = 0, PDK_EINVAL = -1, PDK_ENOMEM = -2, PDK_EBUSY = -3, PDK_ETIMEDOUT = -4, PDK_EPERM = -5, PDK_EDEADLK = -6, PDK_EFORKED = -7, PDK_ECLOSED = -8, PDK_ECANCELED = -9, PDK_ELOST = -10, PDK_EEXPIRED = -11, PDK_EDISCONNECTED = -12, PDK_EUNKNOWN = -13, PDK_EACCES = -14, PDK_EAUTH = -15, PDK_EPATH = -16, PDK_EHOST = -17, PDK_EREFUSED = -18, PDK_EEXHAUSTED = -19, PDK_ENOENT = -20, PDK_ESYSTEM = -21, PDK_ELIMIT = -22, PDK_ESTALE = -23, PDK_ESHORT = -24, PDK_EACL = -25, PDK_ENOTSUP = -26, PDK_ETLS = -27, PDK_EMIXED = -28, PDK_ECONFLICT = -29, PDK_EDONE = -30, PDK_ERECORD = -31, PDK_ESERVER = -32, PDK__ERROR_END = 1 };
const char *pdk_strerror(int code);
const char *pdk_strerrorname(int code);
bool pdk_err_retriable(int code);
bool pdk_err_unknown(int code);
bool pdk_err_fatal(int code);
#define PDK_VERSION_MAJOR 0
#define PDK_VERSION_MINOR 1
#define PDK_VERSION_PATCH 0
const char *pdk_version(void);
typedef struct pdk_client pdk_client;
typedef struct pdk_client_options pdk_client_options;
struct _zhandle;
enum pdk_perm {
    PDK_PERM_READ = 1,
    PDK_PERM_WRITE = 2,
    PDK_PERM_CREATE = 4,
    PDK_PERM_DELETE = 8,
    PDK_PERM_ADMIN = 16,
    PDK_PERM_ALL = 31
};
typedef enum pdk_session_state {
    PDK_SESSION_CONNECTING = 0,
    PDK_SESSION_CONNECTED = 1,
    PDK_SESSION_SUSPENDED = 2,
    PDK_SESSION_OVER = 3
} pdk_session_state;
pdk_client_options *pdk_client_options_new(void);
void pdk_client_options_free(pdk_client_options *o);
int pdk_client_options_set_session_timeout_ms(pdk_client_options *o, int timeout_ms);
int pdk_client_options_add_auth(pdk_client_options *o, const char *scheme, const char *cred);
int pdk_client_options_add_acl(pdk_client_options *o, const char *scheme, const char *id, int perms);
int pdk_client_options_set_label(pdk_client_options *o, const char *label);
int pdk_client_options_set_dispatch(pdk_client_options *o, bool by_caller);
int pdk_client_options_set_clock(pdk_client_options *o, int tick_ms, int margin_ms);
typedef void (*pdk_session_cb)(pdk_client *c, pdk_session_state state, void *arg);
int pdk_client_options_set_on_session(pdk_client_options *o, pdk_session_cb cb, void *arg);
int pdk_client_new(pdk_client **c, const char *hosts, const pdk_client_options *opts);
int pdk_client_adopt(pdk_client **c, struct _zhandle *zh, const pdk_client_options *opts);
int pdk_client_close(pdk_client *c);
int pdk_client_free(pdk_client *c);
int pdk_client_wait(pdk_client *c, int64_t timeout_ms);
int pdk_client_flush(pdk_client *c, int64_t timeout_ms);
pdk_session_state pdk_client_state(pdk_client *c);
int64_t pdk_client_session_id(pdk_client *c);
int pdk_client_session_timeout_ms(pdk_client *c);
int pdk_client_fd(pdk_client *c);
int pdk_client_dispatch(pdk_client *c);
size_t pdk_client_session_reason(pdk_client *c, char *buf, size_t size);
size_t pdk_client_last_error(pdk_client *c, char *buf, size_t size);
typedef struct pdk_lock pdk_lock;
typedef struct pdk_lock_options pdk_lock_options;
typedef struct pdk_grant pdk_grant;
typedef enum pdk_state {
    PDK_FREE = 0,
    PDK_HELD = 1,
    PDK_SUSPECT = 2,
    PDK_LOST = 3
} pdk_state;
pdk_lock_options *pdk_lock_options_new(void);
void pdk_lock_options_free(pdk_lock_options *o);
int pdk_lock_options_set_data(pdk_lock_options *o, const void *data, size_t size);
int pdk_lock_options_set_min_token(pdk_lock_options *o, int64_t min_token);
int pdk_lock_options_set_confirmed(pdk_lock_options *o, bool confirmed);
int pdk_lock_options_set_lock_delay_ms(pdk_lock_options *o, int delay_ms);
int pdk_lock_options_set_look_ahead(pdk_lock_options *o, bool look_ahead);
int pdk_lock_options_set_refuse_mixed(pdk_lock_options *o, bool refuse);
int pdk_lock_options_set_unlock_nowait(pdk_lock_options *o, bool nowait);
int pdk_lock_options_set_keep(pdk_lock_options *o, unsigned turns, int idle_ms);
int pdk_lock_free(pdk_lock *l);
unsigned pdk_lock_count(pdk_lock *l);
const char *pdk_lock_path(pdk_lock *l, unsigned i);
pdk_state pdk_lock_state(pdk_lock *l);
int pdk_lock_token(pdk_lock *l, int64_t *token, uint64_t *turn);
int64_t pdk_lock_valid_ms(pdk_lock *l);
size_t pdk_lock_node(pdk_lock *l, unsigned i, char *buf, size_t size);
int pdk_lock_ahead(pdk_lock *l, int64_t *ahead);
struct zoo_op;
int pdk_lock_guard(pdk_lock *l, unsigned i, struct zoo_op *op);
typedef enum pdk_event_kind {
    PDK_EVENT_QUEUED = 1,
    PDK_EVENT_STATE = 2,
    PDK_EVENT_REVOKED = 3,
    PDK_EVENT_ELECTED = 4,
    PDK_EVENT_DEPOSED = 5,
    PDK_EVENT_WITHDRAWN = 6
} pdk_event_kind;
typedef struct pdk_event {
    pdk_event_kind kind;
    pdk_state state;
    int64_t token;
    int64_t ahead;
} pdk_event;
typedef void (*pdk_event_cb)(pdk_lock *l, const pdk_event *event, void *arg);
int pdk_lock_on_event(pdk_lock *l, pdk_event_cb cb, void *arg);
int pdk_lock_fd(pdk_lock *l);
int pdk_lock_next_event(pdk_lock *l, pdk_event *event);
size_t pdk_lock_last_error(pdk_lock *l, char *buf, size_t size);
typedef void (*pdk_lock_cb)(int rc, void *arg);
int pdk_grant_cancel(pdk_grant *g);
int pdk_grant_release(pdk_grant *g);
int pdk_grant_release_async(pdk_grant *g, pdk_lock_cb cb, void *arg);
pdk_state pdk_grant_state(pdk_grant *g);
int64_t pdk_grant_valid_ms(pdk_grant *g);
int pdk_grant_token(pdk_grant *g, int64_t *token, uint64_t *turn);
int pdk_grant_ahead(pdk_grant *g, int64_t *ahead);
unsigned pdk_grant_count(pdk_grant *g);
size_t pdk_grant_node(pdk_grant *g, unsigned i, char *buf, size_t size);
int pdk_grant_guard(pdk_grant *g, unsigned i, struct zoo_op *op);
typedef enum pdk_write_kind {
    PDK_WRITE_SET = 1,
    PDK_WRITE_CREATE = 2,
    PDK_WRITE_DELETE = 3
} pdk_write_kind;
typedef struct pdk_write {
    pdk_write_kind kind;
    const char *path;
    const void *data;
    size_t size;
    int32_t version;
} pdk_write;
int pdk_guarded_set(pdk_lock *l, const char *path, const void *data, size_t size, int32_t version, int64_t timeout_ms);
int pdk_guarded_create(pdk_lock *l, const char *path, const void *data, size_t size, int64_t timeout_ms);
int pdk_guarded_delete(pdk_lock *l, const char *path, int32_t version, int64_t timeout_ms);
int pdk_guarded_write_async(pdk_lock *l, const pdk_write *write, pdk_lock_cb cb, void *arg);
int pdk_grant_write(pdk_grant *g, const pdk_write *write, int64_t timeout_ms);
int pdk_grant_write_async(pdk_grant *g, const pdk_write *write, pdk_lock_cb cb, void *arg);
typedef struct pdk_lock pdk_mutex;
int pdk_mutex_new(pdk_mutex **m, pdk_client *c, const char *path, const pdk_lock_options *opts);
#define PDK_MUTEX_PATHS_MAX 64
int pdk_mutex_new_several(pdk_mutex **m, pdk_client *c, const char *const *paths, unsigned n,
                          const pdk_lock_options *opts);
int pdk_mutex_lock(pdk_mutex *m);
int pdk_mutex_trylock(pdk_mutex *m);
int pdk_mutex_timedlock(pdk_mutex *m, int64_t timeout_ms);
int pdk_mutex_unlock(pdk_mutex *m);
int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);
int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg);
typedef struct pdk_lock pdk_rwlock;
int pdk_rwlock_new(pdk_rwlock **l, pdk_client *c, const char *path, const pdk_lock_options *opts);
int pdk_rwlock_rdlock(pdk_rwlock *l);
int pdk_rwlock_tryrdlock(pdk_rwlock *l);
int pdk_rwlock_timedrdlock(pdk_rwlock *l, int64_t timeout_ms);
int pdk_rwlock_wrlock(pdk_rwlock *l);
int pdk_rwlock_trywrlock(pdk_rwlock *l);
int pdk_rwlock_timedwrlock(pdk_rwlock *l, int64_t timeout_ms);
int pdk_rwlock_unlock(pdk_rwlock *l);
int pdk_rwlock_downgrade(pdk_rwlock *l);
int pdk_rwlock_rdlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);
int pdk_rwlock_wrlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);
int pdk_rwlock_unlock_async(pdk_rwlock *l, pdk_lock_cb cb, void *arg);
#define PDK_SEMAPHORE_MAX 1000
typedef struct pdk_lock pdk_semaphore;
int pdk_semaphore_new(pdk_semaphore **s, pdk_client *c, const char *path, unsigned limit, const pdk_lock_options *opts);
int pdk_semaphore_acquire(pdk_semaphore *s, unsigned n, pdk_grant **g);
int pdk_semaphore_tryacquire(pdk_semaphore *s, unsigned n, pdk_grant **g);
int pdk_semaphore_timedacquire(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_grant **g);
int pdk_semaphore_acquire_async(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_lock_cb cb, void *arg,
                                pdk_grant **g);
int pdk_semaphore_set_limit(pdk_semaphore *s, unsigned limit);
unsigned pdk_semaphore_limit(pdk_semaphore *s);
int pdk_semaphore_follow(pdk_semaphore *s, const char *count_path);
typedef struct pdk_contender_list pdk_contender_list;
typedef enum pdk_dialect {
    PDK_DIALECT_PADDOCK = 0,
    PDK_DIALECT_CURATOR = 1,
    PDK_DIALECT_FOREIGN = 2,
    PDK_DIALECT_JUNK = 3
} pdk_dialect;
#define PDK_CONTENDER_DATA_MAX 65536
#define PDK_CONTENDERS_DATA_MAX 16777216
typedef enum pdk_mode {
    PDK_MODE_EXCLUSIVE = 0,
    PDK_MODE_READ = 1,
    PDK_MODE_WRITE = 2,
    PDK_MODE_NONE = 3,
    PDK_MODE_PERMIT = 4
} pdk_mode;
int pdk_contenders(pdk_client *c, const char *path, size_t n, int64_t timeout_ms, pdk_contender_list **list);
typedef struct pdk_contenders_observer pdk_contenders_observer;
typedef void (*pdk_contenders_cb)(void *arg);
int pdk_contenders_observe(pdk_contenders_observer **o, pdk_client *c, const char *path, pdk_contenders_cb cb,
                           void *arg);
int pdk_contenders_observer_free(pdk_contenders_observer *o);
void pdk_contender_list_free(pdk_contender_list *list);
size_t pdk_contender_list_size(const pdk_contender_list *list);
typedef enum pdk_list_property {
    PDK_LIST_CREATED,
    PDK_LIST_SINCE_MS,
    PDK_LIST_LACKS,
    PDK_LIST_LACKING
} pdk_list_property;
int64_t pdk_contender_list_number(const pdk_contender_list *list, pdk_list_property property);
const char *pdk_contender_list_text(const pdk_contender_list *list, pdk_list_property property);
bool pdk_contender_holds(const pdk_contender_list *list, size_t i);
bool pdk_contender_blocks(const pdk_contender_list *list, size_t k, size_t i);
const char *pdk_contender_data(const pdk_contender_list *list, size_t i, size_t *size);
typedef enum pdk_contender_property {
    PDK_CONTENDER_SEQUENCE,
    PDK_CONTENDER_DIALECT,
    PDK_CONTENDER_MODE,
    PDK_CONTENDER_SESSION,
    PDK_CONTENDER_TOKEN,
    PDK_CONTENDER_SINCE_MS,
    PDK_CONTENDER_REVOKED,
    PDK_CONTENDER_READABLE,
    PDK_CONTENDER_DATA_OMITTED,
    PDK_CONTENDER_PID,
    PDK_CONTENDER_THREAD,
    PDK_CONTENDER_CONFIRMED,
    PDK_CONTENDER_LOCK_DELAY_MS,
    PDK_CONTENDER_LIMIT,
    PDK_CONTENDER_DEAD,
    PDK_CONTENDER_NAME,
    PDK_CONTENDER_HOST,
    PDK_CONTENDER_LABEL,
    PDK_CONTENDER_MACHINE,
    PDK_CONTENDER_UNDER
} pdk_contender_property;
int64_t pdk_contender_number(const pdk_contender_list *list, size_t i, pdk_contender_property property);
const char *pdk_contender_text(const pdk_contender_list *list, size_t i, pdk_contender_property property);
int pdk_contender_revoke(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms);
int pdk_contender_remove(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms);
typedef struct pdk_lock pdk_leader;
typedef enum pdk_leader_mode {
    PDK_LATCH = 0,
    PDK_IN_TURNS = 1
} pdk_leader_mode;
int pdk_leader_new(pdk_leader **l, pdk_client *c, const char *path, pdk_leader_mode mode, const pdk_lock_options *opts);
int pdk_leader_start(pdk_leader *l);
int pdk_leader_resign(pdk_leader *l);
int pdk_leader_yield(pdk_leader *l);
typedef void (*pdk_resign_cb)(int rc, void *arg);
int pdk_leader_resign_async(pdk_leader *l, pdk_resign_cb cb, void *arg);
int pdk_leader_wait(pdk_leader *l, int64_t timeout_ms);
typedef struct pdk_leader_observer pdk_leader_observer;
typedef void (*pdk_observer_cb)(const char *id, int64_t token, void *arg);
int pdk_leader_observe(pdk_leader_observer **o, pdk_client *c, const char *path, pdk_observer_cb cb, void *arg);
int pdk_leader_observer_free(pdk_leader_observer *o);
typedef struct pdk_barrier pdk_barrier;
#define PDK_BARRIER_MEMBERS_MAX 10000
int pdk_barrier_new(pdk_barrier **b, pdk_client *c, const char *path);
int pdk_barrier_new_double(pdk_barrier **b, pdk_client *c, const char *path, unsigned count);
int pdk_barrier_free(pdk_barrier *b);
const char *pdk_barrier_path(pdk_barrier *b);
size_t pdk_barrier_last_error(pdk_barrier *b, char *buf, size_t size);
int pdk_barrier_set(pdk_barrier *b, int64_t timeout_ms);
int pdk_barrier_remove(pdk_barrier *b, int64_t timeout_ms);
int pdk_barrier_wait(pdk_barrier *b, int64_t timeout_ms);
int pdk_barrier_enter(pdk_barrier *b, int64_t timeout_ms);
int pdk_barrier_leave(pdk_barrier *b, int64_t timeout_ms);
pdk_state pdk_barrier_state(pdk_barrier *b);
typedef struct pdk_runs pdk_runs;
typedef enum pdk_run {
    PDK_RUN_LAST = 0,
    PDK_RUN_DONE = 1
} pdk_run;
typedef enum pdk_run_property {
    PDK_RUN_KEY,
    PDK_RUN_HOST,
    PDK_RUN_LABEL,
    PDK_RUN_PID,
    PDK_RUN_TOKEN,
    PDK_RUN_PERIOD_MS,
    PDK_RUN_BEGUN_MS,
    PDK_RUN_ENDED_MS,
    PDK_RUN_STATUS
} pdk_run_property;
int pdk_runs_read(pdk_client *c, const char *path, int64_t timeout_ms, pdk_runs **runs);
void pdk_runs_free(pdk_runs *runs);
const char *pdk_runs_text(const pdk_runs *runs, pdk_run which, pdk_run_property property);
int64_t pdk_runs_number(const pdk_runs *runs, pdk_run which, pdk_run_property property);
typedef struct pdk_once pdk_once;
#define PDK_ONCE_KEY_MAX 200
int pdk_once_new(pdk_once **out, pdk_lock *l, const char *key, int64_t period_ms);
int pdk_once_free(pdk_once *o);
int pdk_once_set_any(pdk_once *o, bool any);
int pdk_once_ask(pdk_once *o, int64_t timeout_ms);
int pdk_once_begin(pdk_once *o, pdk_grant *g, int64_t timeout_ms);
int pdk_once_end(pdk_once *o, int status, int64_t timeout_ms);
int pdk_once_ask_async(pdk_once *o, pdk_lock_cb cb, void *arg);
int pdk_once_begin_async(pdk_once *o, pdk_grant *g, pdk_lock_cb cb, void *arg);
int pdk_once_end_async(pdk_once *o, int status, pdk_lock_cb cb, void *arg);
const pdk_runs *pdk_once_runs(pdk_once *o);
int64_t pdk_once_age_ms(pdk_once *o);
typedef enum pdk_feature { PDK_TLS = 1, PDK_SASL = 2 } pdk_feature;
bool pdk_has(pdk_feature feature);
typedef int (*pdk_secret_cb)(char *buf, size_t size, void *arg);
int pdk_client_options_set_tls(pdk_client_options *o, const char *ca, const char *cert, const char *key, bool any_name,
                               pdk_secret_cb password, void *arg);
int pdk_client_options_set_sasl(pdk_client_options *o, const char *mechanism, const char *user, pdk_secret_cb password,
                                void *arg);
typedef struct pdk_stats pdk_stats;
typedef enum pdk_stat {
    PDK_STAT_ACQUIRES = 0,
    PDK_STAT_GRANTS = 1,
    PDK_STAT_SERVER_GRANTS = 2,
    PDK_STAT_HANDOVERS = 3,
    PDK_STAT_REUSES = 4,
    PDK_STAT_FAILURES = 5,
    PDK_STAT_LOSSES = 6,
    PDK_STAT_WAITING = 7,
    PDK_STAT_HELD = 8,
    PDK_STAT_SESSIONS = 9,
    PDK_STAT_RECONNECTS = 10,
    PDK_STAT_DISCONNECTS = 11,
    PDK_STAT_EXPIRIES = 12,
    PDK_STAT_RENEWALS_SENT = 13,
    PDK_STAT_RENEWALS = 14,
    PDK_STAT_CONNECTED = 15
} pdk_stat;
typedef enum pdk_loss {
    PDK_LOSS_SESSION = 0,
    PDK_LOSS_LEASE = 1,
    PDK_LOSS_NODE = 2,
    PDK_LOSS_CLOSED = 3
} pdk_loss;
typedef enum pdk_histogram {
    PDK_HISTOGRAM_WAIT = 0,
    PDK_HISTOGRAM_HOLD = 1,
    PDK_HISTOGRAM_QUEUE = 2,
    PDK_HISTOGRAM_RENEWAL = 3
} pdk_histogram;
int pdk_client_stats(pdk_client *c, pdk_stats **stats);
void pdk_stats_free(pdk_stats *s);
uint64_t pdk_stats_count(const pdk_stats *s, pdk_stat what);
uint64_t pdk_stats_failures(const pdk_stats *s, int error);
uint64_t pdk_stats_losses(const pdk_stats *s, pdk_loss reason);
bool pdk_stats_bucket(const pdk_stats *s, pdk_histogram which, size_t i, int64_t *bound, uint64_t *count);
uint64_t pdk_stats_sum(const pdk_stats *s, pdk_histogram which);
typedef enum pdk_metrics {
    PDK_METRICS_OPENMETRICS = 0,
    PDK_METRICS_PROMETHEUS = 1
} pdk_metrics;
size_t pdk_stats_format(const pdk_stats *s, pdk_metrics format, const char *const *labels, char *buf, size_t size);
typedef enum pdk_log_level {
    PDK_LOG_NONE = 0,
    PDK_LOG_ERROR = 1,
    PDK_LOG_WARNING = 2,
    PDK_LOG_INFO = 3,
    PDK_LOG_DEBUG = 4
} pdk_log_level;
typedef void (*pdk_log_cb)(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg);
int pdk_client_options_set_log(pdk_client_options *o, pdk_log_level level, pdk_log_cb cb, void *arg);
int pdk_log_zookeeper(pdk_log_level level);
"""
