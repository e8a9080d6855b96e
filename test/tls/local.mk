# Secured connections, with a client that is built for it; not in make check, because it is fetched and built first.
EXTRA_DIST += %D%/certificates %D%/client %D%/cost %D%/run %D%/tunnels
check-tls:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/run
.PHONY: check-tls
CLEANDIRS += tls-build
