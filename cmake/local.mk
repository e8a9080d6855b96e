# For CMake's find_package(): beside the library, with paths relative to the file itself.
cmakedir = $(libdir)/cmake/paddock
cmake_DATA = %D%/paddock-config.cmake %D%/paddock-config-version.cmake
EXTRA_DIST += %D%/paddock-config.cmake.in
CLEANFILES += %D%/paddock-config.cmake

# Not past symbolic links, of which another machine may have none.
relative = $$(realpath -ms --relative-to="$(cmakedir)" "$(1)")
empty =
space = $(empty) $(empty)
cmake_edits = -e "s,@LIBDIR_FROM_HERE@,$(call relative,$(libdir))," \
	-e "s,@INCLUDEDIR_FROM_HERE@,$(call relative,$(includedir))," \
	-e 's,[@]ZOOKEEPER_LIBS@,$(subst $(space),;,$(strip $(ZOOKEEPER_LIBS))),'
%D%/paddock-config.cmake: %D%/paddock-config.cmake.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed $(cmake_edits) $< >$@
