# Programs that docker/show runs on an ensemble, and their helpers.
demo_programs = %D%/belief %D%/cost %D%/patience %D%/rotation
docker_helpers += %D%/bare %D%/child
# The figures of the recipes need no Docker: they are in make check, in short.
figures_programs = %D%/figures
figures_scripts = %D%/figures_quick
EXTRA_DIST += %D%/CuratorHolder.java $(figures_scripts)
%C%_bare_SOURCES = %D%/bare.c
%C%_bare_LDADD = $(ZOOKEEPER_LIBS)
%C%_belief_SOURCES = %D%/belief.c %D%/margins.c %D%/margins.h %D%/observer.c %D%/observer.h $(workers_sources)
%C%_child_SOURCES = %D%/child.c
%C%_child_LDADD = $(library_and_harness)
%C%_cost_SOURCES = %D%/cost.c %D%/observer.c %D%/observer.h $(workers_sources)
%C%_patience_SOURCES = %D%/patience.c test/docker/scenario.c test/docker/scenario.h $(workers_sources)
%C%_figures_SOURCES = \
	%D%/crew.c %D%/figures.c %D%/figures.h %D%/figure_multilock.c %D%/figure_rotation.c %D%/figure_rwlock.c \
	%D%/figure_semaphore.c %D%/rotate.c %D%/rotate.h $(workers_sources)
%C%_rotation_SOURCES = %D%/rotation.c %D%/rotate.c %D%/rotate.h $(workers_sources)

# All of them: FIGURES='--json', FIGURES='--servers 1 multi'.
figures: $(figures_programs) test/lib/worker
	@$(AM_TESTS_ENVIRONMENT) %D%/figures $(FIGURES)
.PHONY: figures
