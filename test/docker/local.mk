# The tests on an ensemble in Docker.
docker_programs = %D%/faults
EXTRA_DIST += %D%/client
docker_helpers =
%C%_faults_SOURCES = \
	%D%/workers.c %D%/workers.h \
	%D%/servers.c %D%/servers.h \
	%D%/scenario.c %D%/scenario.h \
	%D%/test_faults.c \
	$(judge_sources)
