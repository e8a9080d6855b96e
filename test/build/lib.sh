# Shared by the checks of the build. A check prints "ok - FACT" or "not ok - FACT" and exits 0, 1, or 77 to skip.

unset CDPATH
srcdir=${PADDOCK_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir=${PADDOCK_BUILDDIR:-$PWD}
LC_ALL=C
export LC_ALL

# A directory of our own, gone when we end, also when we are interrupted.
scratch() {
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

skip() {
    echo "$*"
    exit 77
}

# verdict FACT FILE: FILE lists the evidence against FACT.
verdict() {
    if [ -s "$2" ]; then
        echo "not ok - $1"
        sed 's/^/  /' "$2"
        exit 1
    fi
    echo "ok - $1"
}

# fact FACT COMMAND...: what the command says is shown where it fails. The check exits with $failed.
failed=0
fact() {
    local fact=$1
    shift
    if "$@" >"$tmp/out" 2>&1; then
        echo "ok - $fact"
        return
    fi
    echo "not ok - $fact"
    tail -n 40 "$tmp/out" | sed 's/^/  /'
    failed=1
}

# need FACT COMMAND...: without it there is nothing more to see.
need() {
    local before=$failed
    failed=0
    fact "$@"
    [ $failed = 0 ] || exit 1
    failed=$before
}

# have_archives FLAG...: each library among the linker's flags has an archive, for -static. Cyrus SASL, for one, may not.
have_archives() {
    echo 'int main(void) { return 0; }' >"$tmp/empty.c"
    ${PADDOCK_CC:-cc} -static -o "$tmp/empty" "$tmp/empty.c" "$@" >/dev/null 2>&1
}
