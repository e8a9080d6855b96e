# The inputs of the committed corpora through the fuzz targets, with any compiler; test/fuzz/run looks for more, with
# clang's libFuzzer: `make fuzz SECONDS=60 TARGET=contender`, or without TARGET for all.
fuzz_programs = \
	%D%/name %D%/children %D%/path %D%/identity %D%/number %D%/options %D%/frame %D%/session %D%/contender %D%/census %D%/note %D%/runs
%C%_main = %D%/fuzz.h %D%/replay.c
%C%_name_SOURCES = %D%/name.c $(%C%_main)
%C%_children_SOURCES = %D%/children.c $(%C%_main)
%C%_path_SOURCES = %D%/path.c $(%C%_main)
%C%_identity_SOURCES = %D%/identity.c $(%C%_main)
%C%_number_SOURCES = %D%/number.c cli/number.c cli/message.c $(%C%_main)
%C%_options_SOURCES = \
	%D%/options.c cli/options.c cli/help.c cli/credentials.c cli/number.c cli/message.c cli/security.c cli/target.c cli/process_title.c \
	$(%C%_main)
%C%_frame_SOURCES = %D%/frame.c $(%C%_main)
%C%_session_SOURCES = %D%/session.c $(%C%_main)
%C%_contender_SOURCES = %D%/contender.c $(%C%_main)
%C%_census_SOURCES = \
	%D%/census.c cli/look/census.c cli/conflicts.c cli/look/counter.c cli/look/diagnosis.c cli/look/findings.c cli/json.c \
	cli/look/listing.c cli/message.c cli/number.c cli/owner.c cli/look/site.c cli/look/waits.c $(%C%_main)
%C%_note_SOURCES = %D%/note.c cli/run/channel.c $(%C%_main)
%C%_runs_SOURCES = %D%/runs.c $(%C%_main)
EXTRA_DIST += %D%/corpus
EXTRA_DIST += %D%/run .clusterfuzzlite/Dockerfile .clusterfuzzlite/build.sh .clusterfuzzlite/project.yaml

fuzz:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/run $(or $(SECONDS),60) $(TARGET)
.PHONY: fuzz
