# The tests on an ensemble in Docker.
docker_programs = %D%/faults
EXTRA_DIST += %D%/client %D%/hold
docker_helpers =
workers_sources = \
	%D%/workers.c %D%/workers.h %D%/servers.c %D%/servers.h test/interop/peer.c test/interop/peer.h $(judge_sources)
%C%_faults_SOURCES = %D%/scenario.c %D%/scenario.h %D%/test_faults.c $(workers_sources)
