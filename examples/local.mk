noinst_PROGRAMS += \
	%D%/adopt %D%/async %D%/fenced_store %D%/leader %D%/loop %D%/mutex %D%/nightly %D%/session_store
%C%_adopt_CPPFLAGS = $(library_cppflags)
%C%_adopt_LDADD = libpaddock.la $(ZOOKEEPER_LIBS)
%C%_adopt_LDFLAGS = $(AM_LDFLAGS) $(PDK_ONE_CLIENT)
%C%_async_LDADD = libpaddock.la
EXTRA_DIST += %D%/contest
%C%_fenced_store_CPPFLAGS = $(library_cppflags)
%C%_fenced_store_SOURCES = %D%/fenced_store.c %D%/fenced_store.h %D%/fenced_store_demo.c
%C%_fenced_store_LDADD = libpaddock.la $(ZOOKEEPER_LIBS)
%C%_fenced_store_LDFLAGS = $(AM_LDFLAGS) $(PDK_ONE_CLIENT)
%C%_leader_LDADD = libpaddock.la
%C%_loop_LDADD = libpaddock.la
%C%_mutex_LDADD = libpaddock.la
%C%_nightly_LDADD = libpaddock.la
%C%_session_store_CPPFLAGS = $(library_cppflags)
%C%_session_store_LDADD = libpaddock.la $(ZOOKEEPER_LIBS)
%C%_session_store_LDFLAGS = $(AM_LDFLAGS) $(PDK_ONE_CLIENT)

# Installed to be read: those that are one idea each.
examplesdir = $(docdir)/%D%
dist_examples_DATA = \
	%D%/adopt.c %D%/async.c %D%/fenced_store.c %D%/fenced_store.h %D%/fenced_store_demo.c %D%/hold.go \
	%D%/leader.c %D%/loop.c %D%/mutex.c %D%/mutex.cc %D%/paddock-elect.service %D%/paddock-leader.service \
	%D%/nightly.c %D%/session_store.c
dist_examples_SCRIPTS = %D%/hold.sh
