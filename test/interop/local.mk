interop_programs = %D%/curator %D%/kazoo
%C%_common = %D%/interop.c %D%/interop.h %D%/peer.c %D%/peer.h
%C%_curator_SOURCES = %D%/latches.c %D%/permits.c %D%/rwlocks.c %D%/test_curator.c %D%/turns.c $(%C%_common)
%C%_kazoo_SOURCES = %D%/test_kazoo.c $(%C%_common)
EXTRA_DIST += %D%/CuratorPeer.java %D%/kazoo_peer.py
