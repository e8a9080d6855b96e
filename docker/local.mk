# An ensemble in Docker. The programs for integration use the servers of PADDOCK_TEST_HOSTS where they can;
# docker_programs need them.
EXTRA_DIST += %D%/bare %D%/base %D%/check %D%/common.sh %D%/compose.yml %D%/ensemble %D%/fault %D%/official.yml \
	%D%/client/Dockerfile %D%/client/image %D%/client/static %D%/client/static.Dockerfile %D%/image/Dockerfile %D%/image/healthy %D%/image/serve \
	%D%/picture %D%/pid1 %D%/show

check-docker: all $(integration_programs) $(docker_programs) $(docker_helpers) test/lib/worker $(demo_programs) $(figures_programs)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check $(integration_programs) $(docker_programs) $(demo_programs) $(figures_programs)

# In a tree of test/tls/build.
check-docker-secure: all $(secure_programs) $(docker_programs) $(docker_helpers) test/lib/worker test/demo/belief
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/check --tls $(secure_programs) $(docker_programs) test/demo/belief

# The programs of docker/show.
demo-programs: all $(demo_programs) $(figures_programs) $(docker_helpers) test/lib/worker

.PHONY: check-docker check-docker-secure demo-programs
