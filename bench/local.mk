# The workers of bench/run. They are built by `make bench` and for the tests, and never installed.
bench_programs = %D%/bare %D%/paddock %D%/redis %D%/servers
bench_scripts = %D%/quick
%C%_worker = %D%/worker.c %D%/worker.h
%C%_bare_SOURCES = %D%/bare.c $(%C%_worker)
%C%_bare_LDADD = $(ZOOKEEPER_LIBS)
%C%_paddock_SOURCES = %D%/paddock.c $(%C%_worker)
%C%_paddock_LDADD = libpaddock.la
%C%_redis_SOURCES = %D%/redis.c $(%C%_worker)
%C%_redis_LDADD =
%C%_servers_SOURCES = %D%/servers.c
%C%_servers_LDADD = libpaddock_server.la
EXTRA_DIST += $(bench_scripts) %D%/run %D%/postgres.c %D%/CuratorBench.java %D%/kazoo_bench.py \
	%D%/go/go.mod %D%/go/go.sum %D%/go/main.go

# The whole of it: BENCH='--passes 7 --write'.
bench: $(bench_programs)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/run $(BENCH)
.PHONY: bench
