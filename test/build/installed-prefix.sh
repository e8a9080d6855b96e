#!/bin/sh
# The examples as a stranger builds them: from an installed prefix, by pkg-config's answers, with the shared library and
# with the static one; run against a server that the installed command starts.
. "$(dirname "$0")/lib.sh"
scratch
: "${PKG_CONFIG:=pkg-config}"
root=$tmp/root
lib=$root$PADDOCK_LIBDIR
LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PKG_CONFIG_PATH=$lib/pkgconfig
export LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG
children=
hosts=

# Everything that we started ends with us.
finish() {
    # shellcheck disable=SC2086
    [ -z "$children" ] || kill $children 2>/dev/null || :
    wait
    rm -rf "$tmp"
}
trap finish EXIT

# The make that runs us must not hand its flags down.
install_all() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$builddir" install DESTDIR="$root"; }

# The prefix of paddock.pc is where it would be without DESTDIR.
says() {
    "$PKG_CONFIG" "$@" paddock |
        sed -e "s,-I$PADDOCK_PREFIX,-I$root$PADDOCK_PREFIX,g" -e "s,-L$PADDOCK_LIBDIR,-L$root$PADDOCK_LIBDIR,g"
}

# The place of the examples in an installation of the library.
examples=$root$PADDOCK_PREFIX/share/doc/paddock/examples

# build NAME OUTPUT FLAG...: the flags are for the linker alone.
build() {
    name=$1 output=$2
    shift 2
    # shellcheck disable=SC2046
    ${PADDOCK_CC:-cc} -std=c11 -Wall -Wextra -Werror $(says --cflags) -o "$tmp/$output" "$examples/$name.c" "$@"
}

# compiles STANDARD: each example of C, by itself. What gcc 14 takes for an error, gcc 12 warns of.
compiles() {
    for file in "$examples"/*.c; do
        # shellcheck disable=SC2046
        ${PADDOCK_CC:-cc} -std="$1" -Wall -Wextra -Werror $(says --cflags) -fsyntax-only "$file" || return
    done
}

# await FILE PATTERN PID: until the file has such a line, as long as the process is there, for a minute at most.
await() {
    turns=600
    until grep -q "$2" "$1"; do
        kill -0 "$3" 2>/dev/null && [ $((turns -= 1)) -gt 0 ] || return 1
        sleep 0.1
    done
}

start_server() {
    "$root$PADDOCK_PREFIX/bin/paddock" server --parent $$ >"$tmp/server" 2>&1 &
    server=$!
    children="$children $server"
    await "$tmp/server" PADDOCK_HOSTS= "$server" || { cat "$tmp/server"; return 1; }
    hosts=$(sed -n 's/.*PADDOCK_HOSTS=//p' "$tmp/server")
}

takes_the_lock() {
    "$tmp/$1" "$hosts" /installed/mutex >"$tmp/said" && cat "$tmp/said" && grep -Eq '^held, token [0-9]+$' "$tmp/said"
}

# The incident names what the class of the error cannot: the server that does not answer.
names_a_dead_server() {
    ! "$tmp/mutex" 127.0.0.1:1 /installed/mutex 2>"$tmp/said" && cat "$tmp/said" && grep -q '127\.0\.0\.1:1' "$tmp/said"
}

a_late_write_is_refused() {
    for turn in first again; do
        timeout -k 30 120 "$tmp/fenced_store" demo "$hosts" >"$tmp/$turn" || return
        cat "$tmp/$turn"
        grep -q '^A: the store refuses the write' "$tmp/$turn" && grep -q '^A: ZooKeeper refuses' "$tmp/$turn" || return
    done
}

says_why_not() {
    ! "$tmp/mutex" 127.0.0.1:1x /installed/mutex 2>"$tmp/said" && cat "$tmp/said" && grep -q '^mutex: ' "$tmp/said"
}

# timeout hands our signal on, and makes sure of the end.
start_leader() {
    timeout -k 30 120 "$tmp/leader" "$hosts" /installed/leader >"$tmp/$1" 2>&1 &
    leader=$!
    children="$children $leader"
}

# The first leads, and is asked to end; the second was waiting and leads then.
leaders_take_turns() {
    start_leader first
    first=$leader
    await "$tmp/first" '^leading' "$first" || return 1
    start_leader second
    second=$leader
    kill -TERM "$first" && wait "$first" || return 1
    children=${children%" $first $second"}" $second"
    await "$tmp/second" '^leading' "$second" || return 1
    kill -TERM "$second" && wait "$second" || return 1
    children=${children%" $second"}
    tail -n 3 "$tmp/first" "$tmp/second"
    [ "$(tail -n 1 "$tmp/first" | cut -d, -f1)" = "standing down: asked to end" ]
}

# A unit names a program and a manual page that are not installed here.
unit_is_sound() {
    sed -e "s,^ExecStart=[^ ]*,ExecStart=$tmp/leader," -e '/^Documentation=/d' "$srcdir/examples/$1" >"$tmp/$1"
    systemd-analyze verify "$tmp/$1" 2>&1 | { ! grep "${1%.service}"; } # a value it ignores is a warning
}

# systemd looks in /usr/local/bin, too, but knows no prefix.
unit_finds_the_command() { grep '^ExecStart=/usr/bin/env paddock elect ' "$examples/paddock-elect.service"; }

readme_shows_the_example() {
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$srcdir/README.md" >"$tmp/shown"
    sed '1{/SPDX/d}' "$srcdir/examples/mutex.c" | diff "$tmp/shown" -
}

# Of the pages, to other pages and to examples.
links_lead_somewhere() {
    top=${examples%/*} bad=0
    for page in "$top"/README.md "$top"/doc/*.md; do
        for link in $(grep -o ']([^)#:]*)' "$page" | sed 's/](\(.*\))/\1/'); do
            [ -e "${page%/*}/$link" ] || { echo "${page#"$top"/}: $link"; bad=1; }
        done
    done
    return $bad
}

case $PADDOCK_CFLAGS in
*-fsanitize* | *--coverage*) skip "an instrumented library is not for installing" ;;
esac
command -v "$PKG_CONFIG" >/dev/null || skip "pkg-config is missing"

fact "the README's lines of C are examples/mutex.c" readme_shows_the_example
fact "make install" install_all
fact "no link in what is installed to be read leads nowhere" links_lead_somewhere
# shellcheck disable=SC2046,SC2086
{
    fact "every example compiles as strict C11" compiles c11
    fact "and as GNU's C11" compiles gnu11
    fact "fenced_store links with the shared library and with ZooKeeper's client" build fenced_store fenced_store \
        "$examples/fenced_store_demo.c" $(says --libs) $PADDOCK_ZOOKEEPER_LIBS
    fact "mutex.c links with the shared library" build mutex mutex $(says --libs)
    fact "leader.c links with the shared library" build leader leader $(says --libs)
    fact "async.c links with the shared library" build async async $(says --libs)
    fact "loop.c links with the shared library" build loop loop $(says --libs)
    fact "nightly.c links with the shared library" build nightly nightly $(says --libs)
    fact "adopt.c links with the shared library and with ZooKeeper's client" build adopt adopt $(says --libs) $PADDOCK_ZOOKEEPER_LIBS
    fact "session_store.c links with both, too" build session_store session_store $(says --libs) $PADDOCK_ZOOKEEPER_LIBS
    static=$(says --static --libs)
    if have_archives $static; then static="-static $static"; else static=$(echo "$static" | sed 's/-lpaddock/-l:libpaddock.a/'); fi
    fact "mutex.c links statically" build mutex mutex-static $static
}
fact "the unit of an elected daemon finds the command in any directory of PATH" unit_finds_the_command
if command -v systemd-analyze >/dev/null; then
    fact "systemd finds no fault in the leader's unit" unit_is_sound paddock-leader.service
    fact "systemd finds no fault in the unit of an elected daemon" unit_is_sound paddock-elect.service
else
    echo "ok - systemd finds no fault in the units # SKIP no systemd-analyze"
fi
fact "the installed command starts a server" start_server
if [ -n "$hosts" ]; then
    fact "the mutex is taken and given back" takes_the_lock mutex
    fact "the same, linked statically" takes_the_lock mutex-static
    fact "a host list that is none is refused in one line" says_why_not
    fact "a server that is dead is named" names_a_dead_server
    fact "a store refuses the write of a holder that slept, on the servers that it is given" a_late_write_is_refused
    fact "one leads, and the next when it is asked to end" leaders_take_turns
fi
exit $failed
