# Pages to read: installed as they lie here, so that the links between the pages hold.
dist_doc_DATA = README.md CHANGES CONTRIBUTING.md LICENSE SECURITY.md
pagesdir = $(docdir)/%D%
dist_pages_DATA = \
	%D%/campaign.txt %D%/comparison.md %D%/curator.md %D%/design.md %D%/guarantees.md %D%/histories.txt \
	%D%/install.md %D%/interop.md %D%/measures.md %D%/mutations.txt %D%/operators.md %D%/performance.md \
	%D%/performance-clients.svg %D%/performance-threads.svg %D%/promises.md %D%/proof.md %D%/security.md \
	%D%/testing.md %D%/tunnels.md
if WITH_CLI
dist_man_MANS = %D%/paddock.1
endif
EXTRA_DIST += %D%/paddock.1 %D%/proof

# The tables of doc/proof.md: `make proof TABLES=models`. Coverage has a tree of its own: `doc/proof --write coverage FILE`.
TABLES = models model-mutants deadline deadline-mutants recipes recipe-mutants mutations counts
proof: test/sim/sim
	@$(AM_TESTS_ENVIRONMENT) for table in $(TABLES); do $(srcdir)/%D%/proof --write $$table || exit; done
.PHONY: proof
