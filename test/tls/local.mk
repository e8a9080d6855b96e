# Secured connections, with a client that is built for it; not in make check, because it is fetched and built first.
EXTRA_DIST += %D%/build %D%/certificates %D%/client %D%/cost %D%/debian.sh %D%/run %D%/tunnels
check-tls:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/run

# Tests of check-docker where servers and clients speak TLS, and the image of docker/client.
check-docker-tls:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/build
	@$(MAKE) -C tls-build/paddock check-docker-secure
	@$(srcdir)/test/docker/client
.PHONY: check-docker-tls check-tls
CLEANDIRS += tls-build
