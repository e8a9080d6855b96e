# Programs that docker/show runs on an ensemble, and their helpers.
demo_programs = %D%/belief %D%/cost %D%/patience %D%/rotation
docker_helpers += %D%/bare %D%/child %D%/holder
# The figures of the recipes need no Docker: they are in make check, in short.
figures_programs = %D%/candidate %D%/figures
figures_scripts = %D%/figures_quick
EXTRA_DIST += %D%/CuratorHolder.java $(figures_scripts)
work_sources = %D%/work.c %D%/work.h
demo_sources = \
	%D%/demo.c %D%/demo.h $(work_sources) \
	test/docker/servers.c test/docker/servers.h test/interop/peer.c test/interop/peer.h
%C%_bare_SOURCES = %D%/bare.c
%C%_bare_LDADD = $(ZOOKEEPER_LIBS)
%C%_belief_SOURCES = %D%/belief.c %D%/margins.c %D%/margins.h %D%/observer.c %D%/observer.h $(demo_sources)
%C%_candidate_SOURCES = %D%/candidate.c
%C%_candidate_LDADD = $(library_and_harness)
%C%_child_SOURCES = %D%/child.c $(work_sources)
%C%_child_LDADD =
%C%_cost_SOURCES = %D%/cost.c %D%/observer.c %D%/observer.h $(demo_sources)
%C%_holder_SOURCES = %D%/holder.c $(work_sources)
%C%_holder_LDADD = $(library_and_harness)
%C%_patience_SOURCES = \
	%D%/patience.c test/docker/workers.c test/docker/workers.h test/docker/scenario.c test/docker/scenario.h $(judge_sources) \
	$(demo_sources)
%C%_figures_SOURCES = \
	%D%/crew.c %D%/figures.c %D%/figures.h %D%/figure_multilock.c %D%/figure_rotation.c %D%/figure_rwlock.c \
	%D%/figure_semaphore.c %D%/rotate.c %D%/rotate.h $(judge_sources) $(demo_sources)
%C%_rotation_SOURCES = %D%/rotation.c %D%/rotate.c %D%/rotate.h $(judge_sources) $(demo_sources)

# All of them: FIGURES='--json', FIGURES='--servers 1 multi'.
figures: $(figures_programs)
	@$(AM_TESTS_ENVIRONMENT) %D%/figures $(FIGURES)
.PHONY: figures
