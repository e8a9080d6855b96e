# The workers of bench/run, and the crowd of bench/fleet. They are built by `make bench` and for the tests, and never installed.
bench_programs = %D%/bare %D%/crowd %D%/paddock %D%/redis %D%/servers
bench_scripts = %D%/quick %D%/quick_fleet
%C%_worker = %D%/worker.c %D%/worker.h
%C%_bare_SOURCES = %D%/bare.c $(%C%_worker)
%C%_bare_LDADD = $(ZOOKEEPER_LIBS)
%C%_crowd_SOURCES = %D%/crowd.c %D%/crowd.h %D%/crowd_many.c %D%/crowd_queue.c %D%/members.c %D%/members.h %D%/phase.c \
	%D%/phase.h %D%/scenarios.h %D%/tally.c %D%/tally.h %D%/trio.c %D%/trio.h
%C%_crowd_LDADD = libpaddock.la libpaddock_server.la $(ZOOKEEPER_LIBS)
%C%_paddock_SOURCES = %D%/paddock.c $(%C%_worker)
%C%_paddock_LDADD = libpaddock.la
%C%_redis_SOURCES = %D%/redis.c $(%C%_worker)
%C%_redis_LDADD =
%C%_servers_SOURCES = %D%/servers.c
%C%_servers_LDADD = libpaddock_server.la
EXTRA_DIST += $(bench_scripts) %D%/Page.pm %D%/fleet %D%/run %D%/postgres.c %D%/CuratorBench.java %D%/kazoo_bench.py \
	%D%/go/go.mod %D%/go/go.sum %D%/go/main.go

# The whole of it: BENCH='--passes 7 --write'.
bench: $(bench_programs)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/run $(BENCH)

# What a fleet on one path costs: FLEET=--write.
fleet: %D%/crowd
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/fleet $(FLEET)
.PHONY: bench fleet
