interop_programs = %D%/curator %D%/go %D%/kazoo
interop_helpers = %D%/paddock_peer
interop_scripts = %D%/documented
%C%_common = %D%/interop.c %D%/interop.h %D%/peer.c %D%/peer.h
%C%_curator_SOURCES = %D%/barriers.c %D%/latches.c %D%/permits.c %D%/rwlocks.c %D%/takers.c %D%/test_curator.c %D%/turns.c $(%C%_common)
%C%_go_SOURCES = %D%/test_go.c $(%C%_common)
%C%_kazoo_SOURCES = %D%/test_kazoo.c $(%C%_common)
%C%_paddock_peer_SOURCES = %D%/paddock_peer.c
EXTRA_DIST += $(interop_scripts) %D%/CuratorPeer.java %D%/kazoo_peer.py %D%/matrix \
	%D%/gozk/go.mod %D%/gozk/go.sum %D%/gozk/main.go

# The tables of doc/interop.md: `make interop TABLES=mutex`.
interop: paddock$(EXEEXT) $(interop_helpers)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/matrix --write $(TABLES)
.PHONY: interop
