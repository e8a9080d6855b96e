# The models of the protocol, for spin: those that make check goes through, and those that take their time.
model_scripts = %D%/check %D%/replay
EXTRA_DIST += $(model_scripts) %D%/client.pml %D%/ensemble.pml %D%/lease.pml %D%/lock.pml %D%/machine.pml %D%/state.pml

models:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check
models-full:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check --full
.PHONY: models models-full
