# Programs that docker/show runs on an ensemble, and their helpers.
demo_programs = %D%/belief %D%/cost %D%/patience
docker_helpers += %D%/bare %D%/child
# The rotation needs no Docker: it is in make check, in short.
figures_programs = %D%/rotation
figures_scripts = %D%/figures_quick
# So does the crontab, which takes its time.
nightly_programs = %D%/crontab
preloaded_libraries += %D%/true_timers.la
EXTRA_DIST += %D%/CuratorHolder.java %D%/figures %D%/nightly $(figures_scripts)
%C%_bare_SOURCES = %D%/bare.c
%C%_bare_LDADD = $(ZOOKEEPER_LIBS)
%C%_belief_SOURCES = %D%/belief.c %D%/margins.c %D%/margins.h %D%/observer.c %D%/observer.h $(workers_sources)
%C%_child_SOURCES = %D%/child.c
%C%_child_LDADD = $(library_and_harness)
%C%_cost_SOURCES = %D%/cost.c %D%/observer.c %D%/observer.h $(workers_sources)
%C%_crontab_SOURCES = %D%/crontab.c %D%/fleet.c %D%/fleet.h %D%/nights.c %D%/nights.h \
	%D%/shedlock.c %D%/shedlock.h $(workers_sources)
%C%_patience_SOURCES = %D%/patience.c test/docker/scenario.c test/docker/scenario.h $(workers_sources)
%C%_rotation_SOURCES = %D%/rotation.c $(workers_sources)
%C%_true_timers_la_SOURCES = %D%/true_timers.c
%C%_true_timers_la_LDFLAGS = $(preloaded_ldflags)

# The figures of the recipes: FIGURES='--passes 1 --servers 1'.
figures: $(figures_programs) $(bench_programs) test/lib/worker test/interop/curator
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/figures $(FIGURES)

# A crontab line on ten machines, period after period: NIGHTLY=--quick.
nightly: all $(nightly_programs) %D%/true_timers.la
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/nightly $(NIGHTLY)
.PHONY: figures nightly
