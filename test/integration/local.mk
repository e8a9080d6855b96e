# Tests of the library's edges; check-valgrind runs these under memcheck.
edge_programs = \
	%D%/adopt %D%/attempts %D%/callbacks %D%/cancel %D%/close %D%/conditions %D%/connect %D%/crowd %D%/fork \
	%D%/guard %D%/guarded %D%/incident %D%/leftovers %D%/log %D%/memory %D%/oversize %D%/path %D%/permissions %D%/slow_calls \
	%D%/strangers %D%/throttled
integration_programs = $(edge_programs) \
	%D%/barrier %D%/contenders_observer %D%/contest %D%/ensemble %D%/every_cut %D%/examples %D%/expiry %D%/fenced_store %D%/forged %D%/frozen \
	%D%/handover %D%/harness %D%/latch %D%/late_create %D%/leader %D%/lock %D%/lost_create %D%/lost_delete %D%/mixture %D%/mutex_async \
	%D%/mutex_deadline %D%/mutex_exclusion %D%/mutex_growth %D%/mutex_queue %D%/mutex_wire \
	%D%/multilock %D%/observer %D%/once %D%/outage %D%/own_node %D%/proxy %D%/revoke %D%/rwlock %D%/rwlock_idle %D%/secure \
	%D%/semaphore %D%/stats %D%/swallowed %D%/validity %D%/verb_cost

# Those in which no test reads a message or acts on one: they run over TLS, too.
secure_programs = \
	%D%/attempts %D%/close %D%/guard %D%/guarded %D%/leader %D%/lock %D%/mutex_async %D%/mutex_exclusion \
	%D%/oversize %D%/rwlock

# Programs that tests start.
libpaddock_test_a_SOURCES += %D%/example.c %D%/example.h %D%/kinds.c %D%/kinds.h

%C%_adopt_SOURCES = %D%/test_adopt.c
%C%_attempts_SOURCES = %D%/test_attempts.c
%C%_barrier_SOURCES = %D%/test_barrier.c
%C%_callbacks_SOURCES = %D%/test_callbacks.c
%C%_cancel_SOURCES = %D%/test_cancel.c
%C%_close_SOURCES = %D%/test_close.c
%C%_conditions_SOURCES = %D%/test_conditions.c
%C%_connect_SOURCES = %D%/test_connect.c
%C%_contenders_observer_SOURCES = %D%/test_contenders_observer.c
%C%_contest_SOURCES = %D%/test_contest.c
%C%_crowd_SOURCES = %D%/test_crowd.c
%C%_ensemble_SOURCES = %D%/test_ensemble.c
%C%_every_cut_SOURCES = %D%/test_every_cut.c
%C%_examples_SOURCES = %D%/test_examples.c
%C%_expiry_SOURCES = %D%/test_expiry.c
%C%_fenced_store_SOURCES = %D%/test_fenced_store.c
%C%_forged_SOURCES = %D%/test_forged.c
%C%_fork_SOURCES = %D%/test_fork.c
%C%_frozen_SOURCES = %D%/test_frozen.c
%C%_guard_SOURCES = %D%/test_guard.c
%C%_guarded_SOURCES = %D%/test_guarded.c
%C%_handover_SOURCES = %D%/test_handover.c
%C%_harness_SOURCES = %D%/test_harness.c
%C%_incident_SOURCES = %D%/test_incident.c
%C%_latch_SOURCES = %D%/test_latch.c
%C%_late_create_SOURCES = %D%/test_late_create.c
%C%_leader_SOURCES = %D%/test_leader.c
%C%_leftovers_SOURCES = %D%/test_leftovers.c
%C%_log_SOURCES = %D%/test_log.c
%C%_lock_SOURCES = %D%/test_lock.c
%C%_lost_create_SOURCES = %D%/test_lost_create.c
%C%_lost_delete_SOURCES = %D%/test_lost_delete.c
%C%_memory_SOURCES = %D%/test_memory.c
%C%_mixture_SOURCES = %D%/test_mixture.c
%C%_multilock_SOURCES = %D%/test_multilock.c
%C%_mutex_async_SOURCES = %D%/test_mutex_async.c
%C%_mutex_deadline_SOURCES = %D%/test_mutex_deadline.c
%C%_mutex_exclusion_SOURCES = %D%/test_mutex_exclusion.c
%C%_mutex_growth_SOURCES = %D%/test_mutex_growth.c
%C%_mutex_queue_SOURCES = %D%/test_mutex_queue.c
%C%_mutex_wire_SOURCES = %D%/test_mutex_wire.c
%C%_observer_SOURCES = %D%/test_observer.c
%C%_once_SOURCES = %D%/test_once.c
%C%_outage_SOURCES = %D%/test_outage.c
%C%_oversize_SOURCES = %D%/test_oversize.c
%C%_own_node_SOURCES = %D%/test_own_node.c
%C%_path_SOURCES = %D%/test_path.c
%C%_permissions_SOURCES = %D%/test_permissions.c
%C%_proxy_SOURCES = %D%/test_proxy.c
%C%_revoke_SOURCES = %D%/test_revoke.c
%C%_secure_SOURCES = %D%/test_secure.c
%C%_semaphore_SOURCES = %D%/test_semaphore.c
%C%_rwlock_SOURCES = %D%/test_rwlock.c
%C%_rwlock_idle_SOURCES = %D%/test_rwlock_idle.c
%C%_slow_calls_SOURCES = %D%/test_slow_calls.c
%C%_strangers_SOURCES = %D%/test_strangers.c
%C%_stats_SOURCES = %D%/test_stats.c
%C%_throttled_SOURCES = %D%/test_throttled.c
%C%_swallowed_SOURCES = %D%/test_swallowed.c
%C%_validity_SOURCES = %D%/test_validity.c
%C%_verb_cost_SOURCES = %D%/test_verb_cost.c
