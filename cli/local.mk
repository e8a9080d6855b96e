# The command.
if WITH_CLI
bin_PROGRAMS = paddock
dist_bashcompletion_DATA = %D%/completion/paddock
endif
bashcompletiondir = $(datadir)/bash-completion/completions
EXTRA_DIST += %D%/completion/paddock
paddock_CPPFLAGS = $(library_cppflags)
paddock_CFLAGS = $(AM_CFLAGS) $(PDK_HARDENING_FLAGS)
paddock_LDFLAGS = $(AM_LDFLAGS) $(PDK_HARDENING_LDFLAGS)
paddock_LDADD = libpaddock.la libpaddock_core.la libpaddock_server.la $(ZOOKEEPER_LIBS) $(JANSSON_LIBS)
# For the tests: in a build tree libtool's paddock is a script, of thirteen processes a call.
if WITH_TESTS
if WITH_CLI
noinst_PROGRAMS += uninstalled/paddock
endif
endif
uninstalled_paddock_LDFLAGS = $(paddock_LDFLAGS) -no-install
uninstalled_paddock_LDADD = $(paddock_OBJECTS) $(paddock_LDADD)
uninstalled_paddock_SOURCES =
paddock_SOURCES = \
	%D%/acquisition.c %D%/acquisition.h \
	%D%/barrier.c \
	%D%/break.c \
	%D%/call.c %D%/call.h \
	%D%/candidacy.c %D%/candidacy.h \
	%D%/census.c %D%/census.h \
	%D%/channel.c %D%/channel.h \
	%D%/child.c %D%/child.h \
	%D%/command.c \
	%D%/commands.h \
	%D%/conflicts.c %D%/conflicts.h \
	%D%/connect.c %D%/connect.h \
	%D%/counter.c %D%/counter.h \
	%D%/credentials.c %D%/credentials.h \
	%D%/diagnosis.c %D%/diagnosis.h \
	%D%/doctor.c \
	%D%/elect.c \
	%D%/findings.c %D%/findings.h \
	%D%/graph.c %D%/graph.h \
	%D%/graph_dot.c \
	%D%/graph_json.c \
	%D%/graph_text.c \
	%D%/group.c %D%/group.h \
	%D%/guard.c %D%/guard.h \
	%D%/hold.c \
	%D%/incident.c %D%/incident.h \
	%D%/job.c %D%/job.h \
	%D%/json.c %D%/json.h \
	%D%/lease.c %D%/lease.h \
	%D%/listen.c %D%/listen.h \
	%D%/listing.c %D%/listing.h \
	%D%/listing_json.c \
	%D%/lock.c %D%/lock.h \
	%D%/look.c %D%/look.h \
	%D%/ls.c \
	%D%/main.c \
	%D%/message.c %D%/message.h \
	%D%/metrics.c %D%/metrics.h \
	%D%/notify.c %D%/notify.h \
	%D%/number.c %D%/number.h \
	%D%/opener.c %D%/opener.h \
	%D%/options.c %D%/options.h \
	%D%/overview.c %D%/overview.h \
	%D%/owner.c %D%/owner.h \
	%D%/process_title.c %D%/process_title.h \
	%D%/queue.c %D%/queue.h \
	%D%/quota.c %D%/quota.h \
	%D%/recipe.c %D%/recipe.h \
	%D%/relay.c %D%/relay.h \
	%D%/runner.c %D%/runner.h \
	%D%/screen.c %D%/screen.h \
	%D%/security.c %D%/security.h \
	%D%/semaphore.c %D%/semaphore.h \
	%D%/server.c \
	%D%/session.c \
	%D%/shutdown.c %D%/shutdown.h \
	%D%/signals.c %D%/signals.h \
	%D%/site.c %D%/site.h \
	%D%/spawn.c %D%/spawn.h \
	%D%/start.c \
	%D%/target.c %D%/target.h \
	%D%/terminal.c %D%/terminal.h \
	%D%/timer.c %D%/timer.h \
	%D%/top.c \
	%D%/tree.c %D%/tree.h \
	%D%/view.c %D%/view.h \
	%D%/waits.c %D%/waits.h \
	%D%/watch.c %D%/watch.h \
	%D%/witness.c %D%/witness.h
