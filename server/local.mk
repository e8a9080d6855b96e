# Throwaway servers: for the command, the examples and the tests.
noinst_LTLIBRARIES += libpaddock_server.la
libpaddock_server_la_CPPFLAGS = $(library_cppflags)
libpaddock_server_la_CFLAGS = $(AM_CFLAGS) $(PDK_HARDENING_FLAGS)
libpaddock_server_la_SOURCES = \
	%D%/descriptors.c %D%/descriptors.h \
	%D%/handshake.c %D%/handshake.h \
	%D%/java.c %D%/java.h \
	%D%/keeper.c %D%/keeper.h \
	%D%/throwaway.c %D%/throwaway.h \
	%D%/words.c %D%/words.h
