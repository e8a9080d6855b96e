# The simulator: the core, the driver and the recipes as they ship, on a system of its own (shim.h).
sim_programs = %D%/sim
sim_scripts = %D%/campaign %D%/wired
EXTRA_DIST += $(sim_scripts) %D%/coverage %D%/frames.c %D%/seeds %D%/wired.c %D%/wired.syms
shipped_library = %D%/libshipped.a
%C%_libshipped_a_CPPFLAGS = $(AM_CPPFLAGS) -include $(srcdir)/%D%/shim.h
%C%_libshipped_a_SOURCES = $(simulated_sources) %D%/log.c %D%/registry.c %D%/secure.c %D%/shim.h
%C%_sim_LDFLAGS = $(AM_LDFLAGS) $(trace_ldflags)
%C%_sim_LDADD = %D%/libshipped.a .libs/libpaddock_core.a $(JANSSON_LIBS)
%C%_sim_SOURCES = \
	%D%/actor.c %D%/actor.h \
	%D%/agenda.c %D%/agenda.h \
	%D%/answers.c \
	%D%/askers.c \
	%D%/attendants.c \
	%D%/candidates.c \
	%D%/client.c %D%/client.h \
	%D%/crowds.c \
	%D%/ensemble.c %D%/ensemble.h \
	%D%/faults.c \
	%D%/fiber.c %D%/fiber.h \
	%D%/forgeries.c \
	%D%/io.c \
	%D%/late_create.c \
	%D%/law_barriers.c %D%/law_belief.c %D%/law_completion.c %D%/law_delay.c %D%/law_deletion.c %D%/law_exclusion.c %D%/law_herd.c %D%/law_idle.c \
	%D%/law_jobs.c %D%/law_listings.c %D%/law_nodes.c %D%/law_notes.c %D%/law_observers.c %D%/law_order.c %D%/law_permits.c %D%/law_presence.c %D%/law_prompt.c %D%/law_reconnect.c %D%/law_revocation.c \
	%D%/law_silence.c %D%/jobs.c \
	%D%/law_service.c %D%/law_steady.c %D%/law_tokens.c %D%/law_watches.c %D%/laws.h \
	%D%/memory.c \
	%D%/onlookers.c \
	%D%/pipe.c %D%/pipe.h \
	%D%/program.c \
	%D%/random.h \
	%D%/server.c \
	%D%/shrink.c %D%/shrink.h \
	%D%/sim.c \
	%D%/system.c \
	$(trace_sources) \
	%D%/tree.c %D%/tree.h \
	%D%/unwired.c %D%/wired.h \
	%D%/world.c %D%/world.h \
	%D%/zookeeper.c

# As many seeds as asked for.
SEEDS = 100000
sim: %D%/sim
	@$(AM_TESTS_ENVIRONMENT) SEEDS='$(SEEDS)' $(srcdir)/%D%/campaign
# The same seeds in each regime, for their figures: into results/campaign.txt, too.
campaign: %D%/sim
	@$(AM_TESTS_ENVIRONMENT) SEEDS='$(SEEDS)' $(srcdir)/%D%/campaign --figures
# A script, which make would make of wired.c where that is newer, as it may be in a clone.
%D%/wired: ;
# With ZooKeeper's own client, so many of each regime.
wired: %D%/sim
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/wired 20000
sim-coverage:
	@$(AM_TESTS_ENVIRONMENT) SEEDS='$(SEEDS)' $(srcdir)/%D%/coverage
.PHONY: campaign sim sim-coverage wired
