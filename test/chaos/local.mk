# Histories of real processes, on real servers, under real faults; and the judge of them.
chaos_programs = test/lib/worker %D%/judge %D%/run
chaos_scripts = %D%/short
EXTRA_DIST += %D%/campaign $(chaos_scripts)
unit_programs += %D%/evidence %D%/jobs %D%/lanes %D%/laws
judge_sources = \
	%D%/evidence.c %D%/evidence.h %D%/evidence_read.c \
	%D%/faults.c %D%/faults.h \
	%D%/findings.c %D%/findings.h %D%/findings_add.c \
	%D%/judge.c \
	%D%/law_belief.c %D%/law_deadline.c %D%/law_jobs.c %D%/law_margins.c %D%/law_nodes.c %D%/law_order.c %D%/law_outcomes.c \
	%D%/law_service.c %D%/law_tokens.c %D%/law_turns.c \
	%D%/report.c %D%/report.h \
	%D%/summary.c \
	%D%/timeline.c \
	%D%/truth.c %D%/truth.h %D%/truth_read.c \
	%D%/txnlog.c %D%/txnlog.h \
	%D%/verdict.h
%C%_evidence_SOURCES = %D%/test_evidence.c $(judge_sources)
%C%_judge_SOURCES = %D%/judge_main.c $(judge_sources)
%C%_judge_LDADD = $(library_and_harness)
%C%_jobs_SOURCES = %D%/test_jobs.c $(judge_sources)
%C%_lanes_SOURCES = %D%/test_lanes.c $(judge_sources)
%C%_laws_SOURCES = %D%/test_judge.c $(judge_sources)
%C%_run_SOURCES = \
	%D%/admin.c \
	%D%/aftermath.c \
	%D%/workers.c %D%/workers.h \
	test/lib/crafts.c test/lib/crafts.h test/lib/dice.h \
	%D%/faults_admin.c %D%/faults_client.c %D%/faults_server.c \
	%D%/nemesis.c %D%/nemesis.h \
	%D%/run.c \
	$(judge_sources)

# One run of MINUTES with SEED (a new one each time); five minutes over two seeds; and the long one, an hour.
MINUTES = 1
CHAOS_SEEDS = 101 102 103 104 105 106 107 108 109 110
CHAOS_MINUTES = 6
chaos: $(chaos_programs)
	%D%/run $(SEED:%=--seed %) --minutes $(MINUTES)
chaos-ci: $(chaos_programs)
	$(srcdir)/%D%/campaign %D%/run '11 12' 2.5
chaos-full: $(chaos_programs)
	$(srcdir)/%D%/campaign %D%/run '$(CHAOS_SEEDS)' $(CHAOS_MINUTES)
.PHONY: chaos chaos-ci chaos-full
