# The harness; local.mk of other folders add the files that several of their tests share.
libpaddock_test_a_SOURCES = \
	%D%/recorder.c %D%/recorder.h \
	%D%/beat.c %D%/beat.h \
	%D%/check.c %D%/check.h \
	%D%/ensemble.c %D%/ensemble.h \
	%D%/fixture.c %D%/fixture.h \
	%D%/frame.c %D%/frame.h \
	%D%/history.c %D%/history.h \
	%D%/lanes.c %D%/lanes.h \
	%D%/program.c %D%/program.h \
	%D%/proxy.c %D%/proxy.h \
	%D%/proxy_count.c %D%/proxy_flow.c %D%/proxy_rules.c %D%/proxy_state.h \
	%D%/secure.c %D%/secure.h \
	%D%/sequence.c %D%/sequence.h \
	%D%/zk.c %D%/zk.h

# For servers of tests, by JAVA_HOME.
EXTRA_DIST += %D%/archive
CLEANDIRS += %D%/jre
archives = %D%/jre/bin/java
%D%/jre/bin/java: %D%/archive uninstalled/paddock$(EXEEXT)
	$(AM_V_GEN)$(srcdir)/%D%/archive %D%/jre uninstalled/paddock$(EXEEXT)

# A process that contends for a lock, and writes its history.
%C%_worker_SOURCES = %D%/crafts.c %D%/crafts.h %D%/dice.h %D%/job.c %D%/job.h %D%/register.c %D%/register.h %D%/worker.c
%C%_worker_SOURCES += $(trace_sources)
%C%_worker_LDFLAGS = $(AM_LDFLAGS) $(trace_ldflags)
%C%_worker_LDADD = $(library_and_harness)

# For a program that writes what the machines of the core are told, and do: the linker puts that around their functions.
trace_sources = %D%/trace.h %D%/trace_contender.c %D%/trace_session.c
trace_ldflags = -Wl,--wrap=pdk__contender_init,--wrap=pdk__contender_step,--wrap=pdk__session_init,--wrap=pdk__session_step
