# The models of the protocol, for spin: make check goes through the smallest, `make models` through all that
# are visited to the end, `make models-full` through larger ones.
model_scripts = %D%/check %D%/trace
slow_model_scripts = %D%/replay
EXTRA_DIST += $(model_scripts) $(slow_model_scripts) %D%/belief.pml %D%/beliefs.h %D%/beliefs.pml %D%/client.pml \
	%D%/ensemble.pml %D%/given.pml %D%/lease.pml %D%/lock.pml %D%/machine.pml %D%/multilock.pml %D%/rwlock.pml \
	%D%/semaphore.pml %D%/state.pml %D%/steps.h %D%/steps.pml

models:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check --all
# The steps of the code, asked of the models.
trace: test/sim/sim
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/trace --result 50000
models-full:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check --full
.PHONY: models models-full trace
