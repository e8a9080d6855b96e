# The checks of the build itself.
build_scripts = \
	%D%/abi %D%/check-circles %D%/check-curator %D%/check-exports %D%/check-format %D%/check-headers %D%/check-licenses %D%/check-log \
	%D%/check-hardening %D%/check-nonblocking %D%/check-probes %D%/check-prose %D%/check-purity %D%/check-shim %D%/ci \
	%D%/distribution %D%/installed %D%/installed-prefix.sh %D%/kept %D%/pages \
	%D%/interface %D%/proof %D%/prove %D%/quickstart %D%/release %D%/tutorial
debian_files = \
	debian/changelog debian/control debian/copyright debian/libpaddock-dev.install debian/libpaddock1.install \
	debian/libpaddock1.symbols debian/paddock-doc.doc-base debian/paddock-doc.install debian/paddock.install \
	debian/python3-paddock.install debian/rules \
	debian/source/format debian/tests/control debian/tests/stranger
server_scripts = %D%/installed-prefix.sh %D%/tutorial
slow_build_scripts = %D%/check-clusterfuzz %D%/check-cmake %D%/check-measure %D%/configure-missing %D%/cpp %D%/mutants %D%/tarball %D%/verify-release
EXTRA_DIST += $(build_scripts) $(slow_build_scripts) \
	$(debian_files) %D%/packages test/cpp/locks.cc test/cpp/requirements.cc \
	%D%/Prose.pm %D%/again %D%/analyzers %D%/analyzers-judged %D%/architectures %D%/abi.constants %D%/abi.xml %D%/interface.list %D%/assertions-cost %D%/check-clients %D%/check-dist %D%/console.sh %D%/coverage %D%/cunit.c \
	%D%/go-program %D%/identity.c %D%/leaks %D%/lib.sh %D%/lock_cycles.c %D%/measure %D%/memcheck %D%/portability \
	%D%/purity-allowed %D%/races %D%/release-tree.sh %D%/run_record.c %D%/unstable \
	test/proof/affected test/proof/result test/proof/run test/proof/stages test/proof/tables
CLEANDIRS += results unstable

# Tables of the results that the proof has left here: `make proof TABLES='models recipes'`.
proof:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/test/proof/tables $(TABLES)

dist-hook:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check-dist $(distdir) || [ $$? -eq 77 ]

# Other compilers, C libraries and options.
portability:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/portability

# Each build of ZooKeeper's C client.
check-clients:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check-clients $(CLIENTS)

# What the analyzers of gcc, clang and cppcheck say of the sources.
check-analyzers: paddock$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/analyzers

# The instructions that the library's assertions cost.
assertions-cost: paddock$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/assertions-cost

# The programs on the library's edges under memcheck. Some minutes.
check-valgrind: $(edge_programs)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/memcheck $(edge_programs)

# For a tree configured with --enable-sanitize: what is slower for it waits longer, and does fewer rounds. No Java and no
# shell among them: their own memory is not ours. The simulator has one thread: nothing there for ThreadSanitizer.
sanitized_programs = $(unit_programs) $(story_programs) $(fuzz_programs) $(integration_programs)
sanitized_environment = \
	ASAN_OPTIONS=fast_unwind_on_malloc=0; export ASAN_OPTIONS; \
	LSAN_OPTIONS='suppressions=$(abs_srcdir)/%D%/leaks:print_suppressions=0'; export LSAN_OPTIONS; \
	TSAN_OPTIONS='second_deadlock_stack=1:suppressions=$(abs_srcdir)/%D%/races:print_suppressions=0'; export TSAN_OPTIONS; \
	PADDOCK_TEST_SLOW=$${PADDOCK_TEST_SLOW:-5}; export PADDOCK_TEST_SLOW; \
	PADDOCK_TEST_ROUNDS=$${PADDOCK_TEST_ROUNDS:-100}; export PADDOCK_TEST_ROUNDS;
SANITIZED_JOBS = 4
check-sanitized-programs: $(sanitized_programs) test/sim/sim
check-sanitized: check-sanitized-programs
	PADDOCK_TEST_PROOF=yes; export PADDOCK_TEST_PROOF; \
	$(sanitized_environment) $(MAKE) -j$(SANITIZED_JOBS) check check_PROGRAMS='$(sanitized_programs)' \
		TESTS='$(filter $(sanitized_programs),$(long_tests)) $(filter-out $(long_tests),$(sanitized_programs))'
	case '$(PDK_SANITIZE_FLAGS)' in *thread*) ;; *) test/sim/sim --seeds 2000 ;; esac

# The part of it that the gate runs: of the tests of servers one for each recipe. Seeds come first: the recipe ends where a
# test fails, and that one may be run again. Then, for the gate too, TESTS again.
quick_programs = $(unit_programs) $(story_programs) $(fuzz_programs) \
	test/integration/barrier test/integration/latch test/integration/lock test/integration/multilock \
	test/integration/mutex_exclusion test/integration/rwlock test/integration/semaphore
check-quick-programs: $(quick_programs) test/sim/sim
check-quick: check-quick-programs
	test/sim/sim --seeds 1000
	$(sanitized_environment) $(MAKE) -j$(SANITIZED_JOBS) check check_PROGRAMS='$(quick_programs)' TESTS='$(quick_programs)'
check-sanitized-again:
	$(sanitized_environment) $(MAKE) check check_PROGRAMS='$(TESTS)' TESTS='$(TESTS)'

# Lines and branches: for a tree configured with --enable-coverage.
core_programs = $(unit_programs) $(story_programs)
coverage:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/coverage $(COVERAGE_OF)
check-core-coverage-programs: $(core_programs)
check-core-coverage:
	$(MAKE) -j$(COMPUTING_JOBS) check check_PROGRAMS='$(core_programs)' TESTS='$(core_programs)'
	$(MAKE) coverage COVERAGE_OF=--core

.PHONY: assertions-cost check-analyzers check-clients check-core-coverage check-core-coverage-programs check-sanitized check-sanitized-again check-sanitized-programs \
	check-quick check-quick-programs check-valgrind coverage \
	portability proof
