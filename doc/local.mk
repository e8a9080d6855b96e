# Pages to read: installed as they lie here, so that the links between the pages hold.
dist_doc_DATA = README.md CHANGES CONTRIBUTING.md LICENSE SECURITY.md
pagesdir = $(docdir)/%D%
dist_pages_DATA = \
	%D%/abi.md %D%/comparison.md %D%/design.md %D%/guarantees.md %D%/hold-json.md %D%/install.md %D%/interop.md %D%/openssf.md %D%/operators.md \
	%D%/performance.md \
	%D%/graph.svg %D%/performance-clients.svg %D%/performance-fleet.svg %D%/performance-threads.svg %D%/promises.md \
	%D%/proof.md %D%/python.md %D%/security.md %D%/testing.md %D%/tutorial.md
if WITH_CLI
dist_man_MANS = %D%/paddock.1
endif
EXTRA_DIST += %D%/paddock.1 %D%/man

# The manual's sections 3 and 7, made from the headers; `make html` makes pages for a browser of them. How many there are
# is known only when they are made.
if WITH_MANUAL
manual_headers = $(addprefix $(srcdir)/,include/paddock.h $(pkginclude_HEADERS))
# automake knows only the section of the pages that it installs itself.
man3dir = $(mandir)/man3
man7dir = $(mandir)/man7
manual_date = $$(sed -n 's/^\.Dd //p' $(srcdir)/%D%/paddock.1)

%D%/man.stamp: %D%/man %D%/paddock.1 include/paddock.h $(pkginclude_HEADERS)
	$(AM_V_GEN)rm -rf %D%/man3 %D%/man7 && $(MKDIR_P) %D% && \
	$(srcdir)/%D%/man --date "$(manual_date)" %D% $(manual_headers) && : >$@

all-local: %D%/man.stamp

install-data-local: %D%/man.stamp
	$(MKDIR_P) $(DESTDIR)$(man3dir) $(DESTDIR)$(man7dir)
	$(INSTALL_DATA) %D%/man3/*.3 $(DESTDIR)$(man3dir)
	$(INSTALL_DATA) %D%/man7/*.7 $(DESTDIR)$(man7dir)

uninstall-local: %D%/man.stamp
	cd %D%/man3 && for page in *.3; do rm -f $(DESTDIR)$(man3dir)/$$page; done
	cd %D%/man7 && for page in *.7; do rm -f $(DESTDIR)$(man7dir)/$$page; done

html-local: %D%/man.stamp
	$(MKDIR_P) %D%/html
	cd %D% && for page in man3/*.3 man7/*.7; do \
		mandoc -T html -O man=%N.%S.html $$page >html/$${page#man?/}.html || exit; done

CLEANDIRS += %D%/man3 %D%/man7 %D%/html
CLEANFILES += %D%/man.stamp
endif
