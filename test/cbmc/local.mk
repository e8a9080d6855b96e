# The proofs of the core by CBMC. Debian has it from 13 on: elsewhere it runs in a container.
EXTRA_DIST += %D%/allowed.c %D%/barrier.c %D%/check %D%/contender.c %D%/double_barrier.c %D%/faults %D%/machine.h %D%/proofs %D%/prove.h \
	%D%/run %D%/stray.c
proofs:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check $(PROOFS)
.PHONY: proofs
