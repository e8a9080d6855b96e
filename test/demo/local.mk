# Programs that docker/show runs on an ensemble, and their helpers.
demo_programs = %D%/belief %D%/cost %D%/patience
docker_helpers += %D%/bare %D%/child
# The rotation needs no Docker: it is in make check, in short.
figures_programs = %D%/rotation
figures_scripts = %D%/figures_quick
EXTRA_DIST += %D%/CuratorHolder.java %D%/figures $(figures_scripts)
%C%_bare_SOURCES = %D%/bare.c
%C%_bare_LDADD = $(ZOOKEEPER_LIBS)
%C%_belief_SOURCES = %D%/belief.c %D%/margins.c %D%/margins.h %D%/observer.c %D%/observer.h $(workers_sources)
%C%_child_SOURCES = %D%/child.c
%C%_child_LDADD = $(library_and_harness)
%C%_cost_SOURCES = %D%/cost.c %D%/observer.c %D%/observer.h $(workers_sources)
%C%_patience_SOURCES = %D%/patience.c test/docker/scenario.c test/docker/scenario.h $(workers_sources)
%C%_rotation_SOURCES = %D%/rotation.c $(workers_sources)

# The figures of the recipes: FIGURES='--passes 1 --servers 1'.
figures: $(figures_programs) $(bench_programs) test/lib/worker test/interop/curator
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/figures $(FIGURES)
.PHONY: figures
