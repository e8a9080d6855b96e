# Every mutation of every room, of which none may live: `make mutants MUTANTS='--room driver --only watch'`.
mutant_scripts = %D%/check
EXTRA_DIST += $(mutant_scripts) %D%/Edits.pm %D%/client %D%/core %D%/driver %D%/model %D%/recipes %D%/run
mutants: $(bin_PROGRAMS) $(check_LIBRARIES) $(check_LTLIBRARIES) $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/run $(MUTANTS)
.PHONY: mutants
