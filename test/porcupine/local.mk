# The second judge of the histories, Porcupine. It needs Go: without it, both end with 77.
porcupine_scripts = %D%/check
EXTRA_DIST += $(porcupine_scripts) \
	%D%/build %D%/go.mod %D%/go.sum %D%/grants.go %D%/histories %D%/history.go %D%/judge %D%/main.go %D%/models.go
CLEANFILES += %D%/porcupine
porcupine:
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/judge $(HISTORIES)
.PHONY: porcupine
