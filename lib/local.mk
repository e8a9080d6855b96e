# The library. Never -DTHREADED in it: zookeeper.h then does not declare the blocking zoo_ calls, and a call to one does
# not compile.

# Pure: no clock, heap, thread, log or zookeeper.h; check-purity looks at what it leaves undefined.
noinst_LTLIBRARIES += libpaddock_core.la
libpaddock_core_la_CPPFLAGS = $(library_cppflags)
libpaddock_core_la_CFLAGS = $(AM_CFLAGS) $(PDK_HARDENING_FLAGS) -fvisibility=hidden
libpaddock_core_la_SOURCES = \
	%D%/core/ask.c %D%/core/ask.h \
	%D%/core/barrier.c %D%/core/barrier.h \
	%D%/core/chain.c %D%/core/chain.h \
	%D%/core/contender.c %D%/core/contender.h \
	%D%/core/contract.c %D%/core/contract.h \
	%D%/core/course.c %D%/core/course.h \
	%D%/core/double_barrier.c %D%/core/double_barrier.h \
	%D%/core/event.c %D%/core/event.h \
	%D%/core/host.c %D%/core/host.h \
	%D%/core/lease.c %D%/core/lease.h \
	%D%/core/limits.c %D%/core/limits.h \
	%D%/core/name.c %D%/core/name.h \
	%D%/core/order.c %D%/core/order.h \
	%D%/core/once.c %D%/core/once.h \
	%D%/core/own_node.c %D%/core/own_node.h \
	%D%/core/pace.c %D%/core/pace.h \
	%D%/core/path.c %D%/core/path.h \
	%D%/core/phase.c %D%/core/phase.h \
	%D%/core/queue.c %D%/core/queue.h \
	%D%/core/record.c %D%/core/record.h \
	%D%/core/reply.c %D%/core/reply.h \
	%D%/core/retry.c %D%/core/retry.h \
	%D%/core/rivals.c %D%/core/rivals.h \
	%D%/core/rule.c %D%/core/rule.h \
	%D%/core/session.c %D%/core/session.h \
	%D%/core/session_push.c \
	%D%/core/silence.c %D%/core/silence.h \
	%D%/core/stray.c %D%/core/stray.h \
	%D%/core/wish.h

# What the simulator compiles, too, on a system of its own (test/sim). recipes/local.mk adds to both.
simulated_sources = \
	%D%/clock.c %D%/clock.h \
	%D%/error.c \
	%D%/identity.c %D%/identity.h \
	%D%/incident.c %D%/incident.h \
	%D%/revocation.c %D%/revocation.h \
	%D%/run_history.c \
	%D%/run_record.c %D%/run_record.h \
	%D%/stats.c %D%/stats.h \
	%D%/text.c %D%/text.h \
	%D%/zk/account.c %D%/zk/account.h \
	%D%/zk/agent.c %D%/zk/agent.h \
	%D%/zk/attempt.c %D%/zk/attempt.h \
	%D%/zk/batch.c %D%/zk/batch.h \
	%D%/zk/callbacks.c %D%/zk/callbacks.h \
	%D%/zk/claim.c %D%/zk/claim.h \
	%D%/zk/client.c %D%/zk/client.h \
	%D%/zk/code.c %D%/zk/code.h \
	%D%/zk/contenders.c \
	%D%/zk/exchange.c %D%/zk/exchange.h \
	%D%/zk/follower.c %D%/zk/follower.h \
	%D%/zk/handle.c %D%/zk/handle.h \
	%D%/zk/intervention.c \
	%D%/zk/lifecycle.c \
	%D%/zk/listing.c %D%/zk/listing.h \
	%D%/zk/index.c %D%/zk/index.h \
	%D%/zk/member.c %D%/zk/member.h \
	%D%/zk/opener.c %D%/zk/opener.h \
	%D%/zk/options.c %D%/zk/options.h \
	%D%/zk/participant.c %D%/zk/participant.h \
	%D%/zk/patrol.c %D%/zk/patrol.h \
	%D%/zk/release.c %D%/zk/release.h \
	%D%/zk/renewal.c %D%/zk/renewal.h \
	%D%/zk/request.c %D%/zk/request.h \
	%D%/zk/reset.c %D%/zk/reset.h \
	%D%/zk/security.c %D%/zk/security.h \
	%D%/zk/session_driver.c %D%/zk/session_driver.h \
	%D%/zk/standing.c %D%/zk/standing.h \
	%D%/zk/stray.c %D%/zk/stray.h \
	%D%/zk/survey.c %D%/zk/survey.h \
	%D%/zk/thread.c %D%/zk/thread.h \
	%D%/zk/timers.c %D%/zk/timers.h \
	%D%/zk/transaction.c %D%/zk/transaction.h \
	%D%/zk/window.c %D%/zk/window.h \
	%D%/zk/wire.c %D%/zk/wire.h

# The whole library with its internals, for the tests.
noinst_LTLIBRARIES += libpaddock_all.la
libpaddock_all_la_CPPFLAGS = $(library_cppflags) -include $(top_srcdir)/%D%/export.h
libpaddock_all_la_CFLAGS = $(AM_CFLAGS) $(PDK_HARDENING_FLAGS) -fvisibility=hidden
libpaddock_all_la_LIBADD = libpaddock_core.la $(ZOOKEEPER_LIBS) $(JANSSON_LIBS)
libpaddock_all_la_SOURCES = $(simulated_sources) \
	%D%/alloc.c %D%/alloc.h \
	%D%/assert.h \
	%D%/export.h \
	%D%/list.h \
	%D%/metrics.c \
	%D%/probe.h \
	%D%/process.c %D%/process.h \
	%D%/version.c \
	%D%/zk/leave.c %D%/zk/leave.h \
	%D%/zk/log.c %D%/zk/log.h \
	%D%/zk/registry.c %D%/zk/registry.h \
	%D%/zk/sasl.c %D%/zk/sasl.h \
	%D%/zk/secure.c %D%/zk/secure.h \
	%D%/zk/snapshot.c \
	%D%/zk/tls.c %D%/zk/tls.h

# The installed library: the same objects behind the map. -version-info is current:revision:age; with a release, a new
# function raises current and age and zeroes revision, any other change of code raises revision. Nothing is ever taken
# away: what is superseded stays under its version node.
lib_LTLIBRARIES = libpaddock.la
libpaddock_la_SOURCES =
libpaddock_la_LIBADD = libpaddock_all.la
libpaddock_la_LDFLAGS = $(AM_LDFLAGS) $(PDK_HARDENING_LDFLAGS) -version-info 1:0:0 $(PDK_SHLIB_FLAGS) \
	-Wl,--version-script=%D%/libpaddock.map
libpaddock_la_DEPENDENCIES = libpaddock_all.la %D%/libpaddock.map
EXTRA_DIST += %D%/exports
CLEANFILES += %D%/libpaddock.map
%D%/libpaddock.map: %D%/exports
	$(AM_V_GEN)$(MKDIR_P) %D% && { \
	  sed -n '/@@/ { s/.*@@\(.*\)/\1 {/p; q; }' $(srcdir)/%D%/exports; echo 'global:'; \
	  sed -n 's/^\(pdk_[a-z0-9_]*\)@@.*/    \1;/p' $(srcdir)/%D%/exports; \
	  echo 'local:'; echo '    *;'; echo '};'; } >$@.tmp && mv $@.tmp $@

include_HEADERS = include/paddock.h include/paddock.hpp
pkginclude_HEADERS = \
	include/paddock/barrier.h include/paddock/client.h include/paddock/contenders.h include/paddock/error.h \
	include/paddock/guarded.h \
	include/paddock/leader.h include/paddock/lock.h include/paddock/log.h include/paddock/mutex.h \
	include/paddock/once.h \
	include/paddock/rwlock.h include/paddock/secure.h include/paddock/semaphore.h include/paddock/stats.h \
	include/paddock/version.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = paddock.pc
