# Macros of Paddock's configure.ac.

# PDK_NEED(MACRO, DEBIAN-PACKAGE): say at autoreconf time which package holds a macro, instead of leaving its name in
# configure, where it becomes a syntax error of the shell.
m4_define([PDK_NEED],
  [m4_ifdef([$1], [], [m4_fatal([the macro $1 is missing; on Debian: apt-get install $2])])])

# PDK_MISSING(WHAT, DEBIAN-PACKAGE): stop in one line.
AC_DEFUN([PDK_MISSING], [AC_MSG_ERROR([$1 is missing; on Debian: apt-get install $2])])

# PDK_COMPILER: find a C compiler that can make a program, before AC_PROG_CC says it in four lines without a remedy.
AC_DEFUN([PDK_COMPILER], [
  AC_CHECK_TOOLS([CC], [gcc cc clang])
  AS_IF([test -z "$CC"], [PDK_MISSING([a C compiler], [gcc libc6-dev])])
  AC_MSG_CHECKING([whether $CC makes a program])
  AS_ECHO(["@%:@include <stdio.h>"]) >conftest.c
  AS_ECHO(["int main(void) { return puts(\"\"); }"]) >>conftest.c
  AS_IF([$CC $CFLAGS $CPPFLAGS $LDFLAGS -o conftest.out conftest.c >&AS_MESSAGE_LOG_FD 2>&1],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     PDK_MISSING([what $CC needs to make a program (the C library's headers?)], [gcc libc6-dev])])
  rm -f conftest.c conftest.out
])

# PDK_C11: atomics, thread-local storage and static assertions, which C11 lets a compiler leave out.
AC_DEFUN([PDK_C11], [
  AC_CACHE_CHECK([for C11 with atomics and thread-local storage], [pdk_cv_c11], [
    pdk_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -std=c11 -pthread"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
      #include <stdatomic.h>
      #include <stdint.h>
      static _Thread_local int mine;
      static _Atomic uint64_t shared;
      _Static_assert(sizeof(uint64_t) == 8, "");]],
      [[return (int)atomic_fetch_add(&shared, 1) + mine;]])], [pdk_cv_c11=yes], [pdk_cv_c11=no])
    CFLAGS=$pdk_save_CFLAGS])
  AS_IF([test "$pdk_cv_c11" != yes],
    [PDK_MISSING([a compiler for C11 with atomics and thread-local storage], [gcc])])
])

# PDK_VERSION_SCRIPT: a linker that takes a version script and a compiler that hides symbols.
AC_DEFUN([PDK_VERSION_SCRIPT], [
  AC_CACHE_CHECK([for hidden symbols and version scripts], [pdk_cv_version_script], [
    pdk_save_CFLAGS=$CFLAGS
    pdk_save_LDFLAGS=$LDFLAGS
    AS_ECHO(["CONFTEST_0 { global: conftest_seen; local: *; };"]) >conftest.map
    CFLAGS="$CFLAGS -fPIC -fvisibility=hidden -Werror"
    LDFLAGS="$LDFLAGS -shared -Wl,--version-script=conftest.map"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
      __attribute__((visibility("default"))) int conftest_seen(void);
      int conftest_seen(void) { return 0; }]])], [pdk_cv_version_script=yes], [pdk_cv_version_script=no])
    rm -f conftest.map
    CFLAGS=$pdk_save_CFLAGS
    LDFLAGS=$pdk_save_LDFLAGS])
  AS_IF([test "$pdk_cv_version_script" != yes],
    [PDK_MISSING([a linker that takes version scripts], [gcc binutils])])
])

# PDK_LINK_FLAG(FLAG, VARIABLE): append FLAG to VARIABLE when the linker takes it.
AC_DEFUN([PDK_LINK_FLAG], [
  AS_VAR_PUSHDEF([cache], [pdk_cv_link_flag_$1])
  AC_CACHE_CHECK([whether the linker takes $1], [cache], [
    pdk_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS $1"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    LDFLAGS=$pdk_save_LDFLAGS])
  AS_VAR_IF([cache], [yes], [$2="$$2 $1"])
  AS_VAR_POPDEF([cache])
])

# PDK_HARDEN: what stops at an overrun buffer, and makes the tables of the linker read-only. The C library checks
# buffers in optimised code only, and a level that the builder has chosen stays. A sanitizer does more, and counted lines
# must be those of the source.
AC_DEFUN([PDK_HARDEN], [
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening], [do without checks of buffers and of the stack, and without a read-only GOT])],
    [], [enable_hardening=yes])
  AS_IF([test "$enable_hardening" != no && test "$enable_sanitize" = no && test "$enable_coverage" = no], [
    PDK_COMPILE_FLAG([-fstack-protector-strong], [PDK_HARDENING_FLAGS])
    PDK_COMPILE_FLAG([-D_FORTIFY_SOURCE=2], [PDK_HARDENING_FLAGS])
    PDK_LINK_FLAG([-Wl,-z,relro], [PDK_HARDENING_LDFLAGS])
    PDK_LINK_FLAG([-Wl,-z,now], [PDK_HARDENING_LDFLAGS])])
  AC_SUBST([PDK_HARDENING_FLAGS])
  AC_SUBST([PDK_HARDENING_LDFLAGS])
])

# PDK_SANITIZE: --enable-sanitize=LIST.
AC_DEFUN([PDK_SANITIZE], [
  AC_ARG_ENABLE([sanitize],
    [AS_HELP_STRING([--enable-sanitize=LIST], [instrument with address,undefined or with thread])],
    [], [enable_sanitize=no])
  AS_CASE([$enable_sanitize],
    [no], [],
    [address|undefined|thread|address,undefined|undefined,address],
      [PDK_SANITIZE_FLAGS="-fsanitize=$enable_sanitize -fno-sanitize-recover=all -fno-omit-frame-pointer -g"],
    [AC_MSG_ERROR([--enable-sanitize takes address, undefined, address,undefined or thread])])
  AS_IF([test "$enable_sanitize" != no], [
    AC_MSG_CHECKING([whether $CC links with -fsanitize=$enable_sanitize])
    pdk_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $PDK_SANITIZE_FLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])
      PDK_MISSING([the run-time library of -fsanitize=$enable_sanitize], [gcc (its libgcc-N-dev), or libclang-rt-dev for clang])])
    CFLAGS=$pdk_save_CFLAGS])
  AC_SUBST([PDK_SANITIZE_FLAGS])
])

# PDK_COMPILE_FLAG(FLAG, VARIABLE): append FLAG to VARIABLE when a program can be made with it, without a warning.
AC_DEFUN([PDK_COMPILE_FLAG], [
  AS_VAR_PUSHDEF([cache], [pdk_cv_compile_flag_$1])
  AC_CACHE_CHECK([whether $CC takes $1], [cache], [
    pdk_save_CFLAGS=$CFLAGS
    CFLAGS="$1 $CFLAGS -Werror"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[char text[8]; memset(text, 0, sizeof text)]])],
      [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    CFLAGS=$pdk_save_CFLAGS])
  AS_VAR_IF([cache], [yes], [$2="$$2 $1"])
  AS_VAR_POPDEF([cache])
])

# PDK_ZOOKEEPER: ZooKeeper's C client. The variables ZOOKEEPER_CFLAGS and ZOOKEEPER_LIBS of the user come first, then
# --with-zookeeper, then what the compiler finds. ZOOKEEPER_LIBS becomes all that a program needs to link with the
# client. The build for a single thread has no zoo_create().
AC_DEFUN([PDK_ZOOKEEPER], [
  AC_ARG_VAR([ZOOKEEPER_CFLAGS], [compiler flags for ZooKeeper's C client])
  AC_ARG_VAR([ZOOKEEPER_LIBS], [linker flags for ZooKeeper's C client and for all that it needs])
  pdk_zookeeper_libs=$ZOOKEEPER_LIBS
  pdk_zookeeper_clients="-lzookeeper_mt -lzookeeper"
  pdk_zookeeper_dir=
  pdk_zookeeper_place=
  AS_CASE([$with_zookeeper],
    [yes], [],
    [/*], [
      AS_IF([test -z "$ZOOKEEPER_CFLAGS"], [ZOOKEEPER_CFLAGS="-I$with_zookeeper/include"])
      AS_IF([test -z "$ZOOKEEPER_LIBS"], [PDK_ZOOKEEPER_PREFIX])],
    [AC_MSG_ERROR([--with-zookeeper takes the absolute path of a directory])])
  PDK_ZOOKEEPER_HEADER([zookeeper/zookeeper.h], [zookeeper/zookeeper.h], [libzookeeper-mt-dev])
  AC_CACHE_CHECK([for ZooKeeper's threaded C client], [pdk_cv_zookeeper_libs], [
    pdk_cv_zookeeper_libs=no
    AS_IF([test -n "$pdk_zookeeper_libs"],
      [PDK_LINKS([zoo_create zoo_acreate2], [$pdk_zookeeper_libs], [pdk_cv_zookeeper_libs=$pdk_zookeeper_libs])],
      [PDK_ZOOKEEPER_SEARCH])])
  ZOOKEEPER_LIBS=$pdk_cv_zookeeper_libs
  AS_IF([test "$ZOOKEEPER_LIBS" != no], [],
    [test -n "$pdk_zookeeper_libs"],
      [AC_MSG_ERROR([ZOOKEEPER_LIBS is "$pdk_zookeeper_libs", which has no threaded client of 3.5 or later, or not all that the client needs])],
    [PDK_MISSING([ZooKeeper's threaded C client, 3.5 or later$pdk_zookeeper_place (-lzookeeper_mt, -lzookeeper -lhashtable or -lzookeeper, each also with -lssl -lcrypto and -lsasl2),], [libzookeeper-mt-dev])])
  # A client that is an archive goes into our shared library, which hides it. A program that calls the client itself
  # links our archive then (libtool's -static), lest it have two clients, with a log level each.
  AS_IF([test "$enable_shared" != no], [
    AC_CACHE_CHECK([how a shared library has it], [pdk_cv_zookeeper_shared], [
      pdk_save_CFLAGS=$CFLAGS
      CFLAGS="$CFLAGS -fPIC -shared"
      PDK_LINKS([zoo_create zoo_acreate2], [$ZOOKEEPER_LIBS],
        [AS_CASE([$pdk_symbols], [*" T zoo_create"*], [pdk_cv_zookeeper_shared=copy], [pdk_cv_zookeeper_shared=shared])],
        [pdk_cv_zookeeper_shared=no])
      CFLAGS=$pdk_save_CFLAGS])
    AS_CASE([$pdk_cv_zookeeper_shared],
      [no], [AC_MSG_ERROR([ZooKeeper's C client ($ZOOKEEPER_LIBS) was built without -fPIC: build it with that, or configure with --disable-shared])],
      [copy], [PDK_ONE_CLIENT=-static])])
  AC_SUBST([PDK_ONE_CLIENT])
  AC_SUBST([PDK_ZOOKEEPER_RPATH])
])

# PDK_ZOOKEEPER_PREFIX: the clients in the directory of libraries of --with-zookeeper, and no others.
AC_DEFUN([PDK_ZOOKEEPER_PREFIX], [
  pdk_zookeeper_clients=
  pdk_zookeeper_place=", in $with_zookeeper/lib or $with_zookeeper/lib64"
  for pdk_dir in lib lib64; do
    test -z "$pdk_zookeeper_clients" || break
    pdk_zookeeper_dir="-L$with_zookeeper/$pdk_dir "
    for pdk_file in "$with_zookeeper/$pdk_dir"/libzookeeper_mt.@<:@as@:>@*; do
      test ! -f "$pdk_file" || pdk_zookeeper_clients="$pdk_zookeeper_clients -lzookeeper_mt"
    done
    for pdk_file in "$with_zookeeper/$pdk_dir"/libzookeeper.@<:@as@:>@*; do
      test ! -f "$pdk_file" || pdk_zookeeper_clients="$pdk_zookeeper_clients -lzookeeper"
    done
    # libtool notes where a shared library is, in what is built with it.
    for pdk_file in "$with_zookeeper/$pdk_dir"/libzookeeper*.so; do
      test ! -f "$pdk_file" || PDK_ZOOKEEPER_RPATH="-R$with_zookeeper/$pdk_dir"
    done
  done
])

# PDK_ZOOKEEPER_HEADER(HEADER, NAME-WHERE-MISSING, DEBIAN-PACKAGE)
AC_DEFUN([PDK_ZOOKEEPER_HEADER], [
  pdk_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$ZOOKEEPER_CFLAGS $CPPFLAGS"
  AC_CHECK_HEADER([$1], [], [PDK_MISSING([$2], [$3])])
  CPPFLAGS=$pdk_save_CPPFLAGS
])

# PDK_ZOOKEEPER_SEARCH: the first of the clients that links, with the least after it.
AC_DEFUN([PDK_ZOOKEEPER_SEARCH], [
  pdk_system=" -lpthread -lm -ldl"
  for pdk_client in -lzookeeper_mt "-lzookeeper -lhashtable" -lzookeeper; do
    AS_CASE([" $pdk_zookeeper_clients "], [*" ${pdk_client%% *} "*], [], [continue])
    for pdk_after in "" "$pdk_system" " -lssl -lcrypto$pdk_system" " -lsasl2$pdk_system" " -lssl -lcrypto -lsasl2$pdk_system"; do
      PDK_LINKS([zoo_create zoo_acreate2], [$pdk_zookeeper_dir$pdk_client$pdk_after],
        [pdk_cv_zookeeper_libs=$pdk_zookeeper_dir$pdk_client$pdk_after
         break 2])
    done
  done
])

# PDK_LINKS(FUNCTIONS, LIBRARIES, IF-SO, IF-NOT): whether a program that calls the functions links. pdk_symbols has what
# nm says of it.
AC_DEFUN([PDK_LINKS], [
  pdk_save_LIBS=$LIBS
  LIBS="$2 $LIBS"
  AC_LINK_IFELSE([AC_LANG_SOURCE([m4_foreach_w([pdk_name], [$1], [char pdk_name[](void);
])int calls(void);
int calls(void) { return m4_foreach_w([pdk_name], [$1], [pdk_name[]() + ])0; }
int main(void) { return calls(); }])], [pdk_links=yes pdk_symbols=`$NM conftest$ac_exeext 2>&AS_MESSAGE_LOG_FD`],
    [pdk_links=no])
  LIBS=$pdk_save_LIBS
  AS_IF([test "$pdk_links" = yes], [$3], [$4])
])

# PDK_SECURITY(NAME, FUNCTION, FUNCTION-OF-LIBRARIES, HEADER, LIBRARIES, DEBIAN-PACKAGE): when ZooKeeper's client has
# FUNCTION, define PDK_WITH_NAME, and add LIBRARIES to ZOOKEEPER_LIBS where they are not among them. The client's header
# shows none of that: it depends on macros that the client's own build has set.
AC_DEFUN([PDK_SECURITY], [
  AC_MSG_CHECKING([whether ZooKeeper's client has $1])
  PDK_LINKS([$2], [$ZOOKEEPER_LIBS], [
    AC_MSG_RESULT([yes])
    PDK_ZOOKEEPER_HEADER([$4], [$4, for the $1 that ZooKeeper's client has,], [$6])
    AC_DEFINE([PDK_WITH_$1], [1], [ZooKeeper's client has $1.])
    PDK_LINKS([$3], [$ZOOKEEPER_LIBS], [], [ZOOKEEPER_LIBS="$ZOOKEEPER_LIBS $5"])],
    [AC_MSG_RESULT([no])])
])

# PDK_PYTHON: where Python looks for packages below the prefix, for the binding. automake takes one directory for all
# systems; Debian's Python reads others. Without Python 3.11 the binding is not installed.
AC_DEFUN([PDK_PYTHON], [
  AC_ARG_WITH([python],
    [AS_HELP_STRING([--without-python], [do not install the Python package])],
    [], [with_python=yes])
  AS_IF([test "$with_python" != no], [
    AM_PATH_PYTHON([3.11], [], [with_python=no])])
  AS_IF([test "$with_python" != no], [
    pdk_prefix=$prefix
    AS_IF([test "$pdk_prefix" = NONE], [pdk_prefix=$ac_default_prefix])
    pdk_found=`"$PYTHON" -c 'import site, sys
for folder in site.getsitepackages():
    if folder.startswith(sys.argv[[1]] + "/lib"):
        print(folder[[len(sys.argv[[1]]):]])
        break' "$pdk_prefix" 2>&AS_MESSAGE_LOG_FD`
    AS_IF([test -n "$pdk_found"], [pythondir="\${prefix}$pdk_found"])])
  AM_CONDITIONAL([WITH_PYTHON], [test "$with_python" != no])
])
