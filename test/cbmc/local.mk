# The proofs of the core by CBMC. Debian has it from 13 on: elsewhere it runs in a container.
EXTRA_DIST += %D%/allowed.c %D%/barrier.c %D%/chain.c %D%/check %D%/contender.c %D%/double_barrier.c %D%/faults \
	%D%/host.c %D%/limits.c %D%/links.c %D%/listings.c %D%/machine.h %D%/name.c %D%/order.c %D%/pace.c \
	%D%/path.c %D%/place.c %D%/proofs %D%/prove.h %D%/retry.c %D%/run %D%/search.h %D%/session.c %D%/silence.c \
	%D%/stray.c %D%/string.c %D%/written.c
proofs:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check $(PROOFS)
.PHONY: proofs
