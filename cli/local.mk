# The command.
if WITH_CLI
bin_PROGRAMS = paddock
dist_bashcompletion_DATA = %D%/completion/paddock
endif
bashcompletiondir = $(datadir)/bash-completion/completions
EXTRA_DIST += %D%/completion/paddock
paddock_CPPFLAGS = $(library_cppflags)
paddock_CFLAGS = $(AM_CFLAGS) $(PDK_HARDENING_FLAGS)
paddock_LDFLAGS = $(AM_LDFLAGS) $(PDK_HARDENING_LDFLAGS) $(PDK_ONE_CLIENT)
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
	%D%/run/acquisition.c %D%/run/acquisition.h \
	%D%/barrier.c \
	%D%/look/break.c \
	%D%/call.c %D%/call.h \
	%D%/run/candidacy.c %D%/run/candidacy.h %D%/run/phase.c %D%/run/phase.h \
	%D%/look/census.c %D%/look/census.h \
	%D%/run/channel.c %D%/run/channel.h \
	%D%/run/child.c %D%/run/child.h \
	%D%/run/command.c \
	%D%/commands.h \
	%D%/conflicts.c %D%/conflicts.h \
	%D%/connect.c %D%/connect.h \
	%D%/look/counter.c %D%/look/counter.h \
	%D%/credentials.c %D%/credentials.h \
	%D%/look/diagnosis.c %D%/look/diagnosis.h \
	%D%/look/doctor.c \
	%D%/run/dialogue.c %D%/run/dialogue.h \
	%D%/run/elect.c \
	%D%/look/findings.c %D%/look/findings.h \
	%D%/look/graph.c %D%/look/graph.h \
	%D%/look/graph_dot.c \
	%D%/look/graph_json.c \
	%D%/look/graph_text.c \
	%D%/run/group.c %D%/run/group.h \
	%D%/run/guard.c %D%/run/guard.h \
	%D%/run/hold.c \
	%D%/help.c %D%/help.h \
	%D%/incident.c %D%/incident.h \
	%D%/run/job.c %D%/run/job.h \
	%D%/json.c %D%/json.h \
	%D%/run/page.c %D%/run/page.h \
	%D%/run/line_input.c %D%/run/line_input.h \
	%D%/run/line_output.c %D%/run/line_output.h \
	%D%/run/listen.c %D%/run/listen.h \
	%D%/look/last_run.c %D%/look/last_run.h \
	%D%/look/listing.c %D%/look/listing.h \
	%D%/look/listing_json.c \
	%D%/run/lock.c %D%/run/lock.h \
	%D%/look/look.c %D%/look/look.h \
	%D%/look/ls.c \
	%D%/main.c \
	%D%/message.c %D%/message.h \
	%D%/run/metrics.c %D%/run/metrics.h \
	%D%/run/notify.c %D%/run/notify.h \
	%D%/run/once.c %D%/run/once.h \
	%D%/number.c %D%/number.h \
	%D%/opener.c %D%/opener.h \
	%D%/options.c %D%/options.h \
	%D%/look/overview.c %D%/look/overview.h \
	%D%/owner.c %D%/owner.h \
	%D%/process_title.c %D%/process_title.h \
	%D%/run/wait_line.c %D%/run/wait_line.h \
	%D%/look/quota.c %D%/look/quota.h \
	%D%/run/recipe.c %D%/run/recipe.h \
	%D%/run/relay.c %D%/run/relay.h \
	%D%/run/request.c %D%/run/request.h \
	%D%/run/request_options.c %D%/run/request_options.h \
	%D%/run/runner.c %D%/run/runner.h \
	%D%/screen.c %D%/screen.h \
	%D%/security.c %D%/security.h \
	%D%/look/run_diagnosis.c %D%/look/run_diagnosis.h \
	%D%/look/semaphore.c %D%/look/semaphore.h \
	%D%/server.c \
	%D%/run/session_process.c \
	%D%/run/shutdown.c %D%/run/shutdown.h \
	%D%/signals.c %D%/signals.h \
	%D%/look/site.c %D%/look/site.h \
	%D%/spawn.c %D%/spawn.h \
	%D%/run/start.c \
	%D%/target.c %D%/target.h \
	%D%/run/terminal.c %D%/run/terminal.h \
	%D%/run/timer.c %D%/run/timer.h \
	%D%/look/top.c \
	%D%/look/tree.c %D%/look/tree.h \
	%D%/look/view.c %D%/look/view.h \
	%D%/look/waits.c %D%/look/waits.h \
	%D%/look/watch.c %D%/look/watch.h \
	%D%/run/witness.c %D%/run/witness.h
