# A small repository, of which .ci/release makes releases among programs that only pretend. The keys are of the test
# that sources this, by bash, and so is gpg's agent.
. "$(dirname "$0")/lib.sh"
scratch
command -v git >/dev/null || skip "git is missing"
command -v gpg >/dev/null && command -v gpg-agent >/dev/null || skip "gpg is missing"
failed=0
tree=$tmp/tree
mkdir "$tmp/bin"
export PATH=$tmp/bin:$PATH HOME=$tmp GIT_CONFIG_NOSYSTEM=1 GNUPGHOME=$tmp/gnupg
trap 'gpgconf --kill all; rm -rf "$tmp"' EXIT
at() { git -C "$tree" "$@"; }

# new_key NAME: its fingerprint.
new_key() {
    gpg -q --batch --passphrase '' --quick-generate-key "$1 <$1@paddock.invalid>" ed25519 sign never 2>/dev/null
    gpg --batch --with-colons --list-keys "$1" 2>/dev/null | awk -F: '$1 == "fpr" { print $10; exit }'
}
mkdir -m 700 "$GNUPGHOME"
key=$(new_key maintainer)
other_key=$(new_key other)
[ -n "$key" ] && [ -n "$other_key" ] || { echo "gpg makes no keys"; exit 99; }

# The tarball is what git has, without what the autotools add, compressed as the Makefile does it in any environment.
printf '#!/bin/sh\nprintf "#!/bin/sh\\n" >configure; chmod +x configure\n' >"$tmp/bin/autoreconf"
cat >"$tmp/bin/make" <<END
#!/bin/sh
[ ! -e $tmp/no-tarball ] || exit 2
version=\$(sed -n 's/^AC_INIT(\[paddock\], \[\([^]]*\)\].*/\1/p' configure.ac)
git archive --prefix=paddock-\$version/ HEAD | XZ_DEFAULTS= XZ_OPT=-6e xz >paddock-\$version.tar.xz
END
chmod +x "$tmp/bin/autoreconf" "$tmp/bin/make"

# repository: version 0.1.4 with 1:0:1 is released, and 0.2.0 is ready: nothing was added to the ABI.
repository() {
    rm -rf "$tree" "$tmp/no-tarball"
    echo same >"$tmp/verdict"
    : >"$tmp/missing"
    [ -d "$tmp/ready" ] || { ready; mv "$tree" "$tmp/ready"; }
    cp -a "$tmp/ready" "$tree"
}
ready() {
    mkdir -p "$tree/.ci" "$tree/build" "$tree/debian" "$tree/include/paddock" "$tree/lib" "$tree/test/build"
    cp "$srcdir/.ci/release" "$srcdir/.ci/spdx" "$tree/.ci"
    cp "$srcdir/quickstart" "$srcdir/verify-release" "$tree"
    sed -E 's/^(AC_INIT\(\[paddock\], )\[[^]]*\]/\1[0.1.4]/' "$srcdir/configure.ac" >"$tree/configure.ac"
    sed -E 's/(_MAJOR) .*/\1 0/; s/(_MINOR) .*/\1 1/; s/(_PATCH) .*/\1 4/' "$srcdir/include/paddock/version.h" \
        >"$tree/include/paddock/version.h"
    sed -E 's/-version-info [0-9:]+/-version-info 1:1:1/' "$srcdir/lib/local.mk" >"$tree/lib/local.mk"
    printf '%s\n' '0.2.0 (unreleased)' '' 'Features' '' ' Locks' ' - A lock that is' '   new.' ' - Another.' '' \
        'Mended' '' " - $(printf 'long %.0s' $(seq 30))line." '' '0.1.4 (2026-01-01)' '' ' - An old thing.' \
        >"$tree/CHANGES"
    printf '%s\n' 'paddock (0.1.4-1) unstable; urgency=medium' '' '  * Old.' '' \
        ' -- A Maintainer <a@paddock.internal>  Sun, 22 Nov 2026 12:00:00 +0000' >"$tree/debian/changelog"
    echo 'Maintainer: A Maintainer <a@paddock.internal>' >"$tree/debian/control"
    echo '    Contact: mailto:a@paddock.internal' >"$tree/SECURITY.md"
    printf '%s\n' 'libpaddock.so.0 libpaddock0 #MINVER#' ' (symver)PADDOCK_0 0.1.0' >"$tree/debian/libpaddock0.symbols"
    printf '# paddock 0.1.4, -version-info 1:0:1\n' >"$tree/test/build/abi.constants"
    cat >"$tree/test/build/abi" <<END
#!/bin/sh
case \$1 in
--compare) cat $tmp/verdict; grep -q . $tmp/verdict ;;
--write) echo written >test/build/abi.xml; [ -d "\$PADDOCK_BUILDDIR" ] ;;
esac
END
    touch "$tree/test/build/abi.xml" "$tree/test/build/interface.list"
    printf '#!/bin/sh\necho written >test/build/interface.list\n' >"$tree/test/build/interface"
    chmod +x "$tree/test/build/interface"
    mkdir -p "$tree/test/proof"
    printf '#!/bin/sh\ncat %s\n! grep -q . %s\n' "$tmp/missing" "$tmp/missing" >"$tree/test/proof/run"
    chmod +x "$tree/test/build/abi" "$tree/test/proof/run"
    cp "$srcdir/test/proof/result" "$srcdir/test/proof/tables" "$tree/test/proof"
    cp "$srcdir/test/build/lib.sh" "$tree/test/build"
    echo /build/ >"$tree/.gitignore"
    git init -q --template= -b main "$tree"
    at config user.name 'A Maintainer'
    at config user.email a@paddock.internal
    settle
}

# Commits what was changed.
settle() {
    at add .
    at commit -q --allow-empty -m change
}

# prove NAME...: such results of the tree as it is.
prove() {
    local name
    for name; do
        echo 'core  a mutation  nodes  7' |
            PADDOCK_SRCDIR=$tree PADDOCK_BUILDDIR=$tree/build "$tree/test/proof/result" "$name"
    done
}
proven='campaign.txt coverage.txt histories.txt models.txt mutations.txt'

# release [--dry-run] [VERSION]: with all results of the tree, unless $unproven says otherwise, and the
# maintainer's key.
release() {
    local arguments=("$@")
    [ $# -gt 0 ] || arguments=(0.2.0)
    case ${1:-} in --*) ;; *) arguments=(--key maintainer "${arguments[@]}") ;; esac
    before=$(at rev-parse HEAD)
    [ -n "${unproven:-}" ] || prove $proven
    status=0
    "$tree/.ci/release" "${arguments[@]}" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

# fact FACT CONDITION...
fact() {
    local fact=$1
    shift
    if "$@"; then
        echo "ok - $fact"
        return
    fi
    echo "not ok - $fact (status $status)"
    tail -n 20 "$tmp/out" "$tmp/err" | sed 's/^/  /'
    failed=1
}

# It ends with 1, says this line and no other, and has changed nothing.
refused() {
    [ "$status" = 1 ] && [ "$(wc -l <"$tmp/err")" = 1 ] && grep -q -e "^release: $1" "$tmp/err" &&
        [ ! -s "$tmp/out" ] && untouched
}
untouched() { [ "$(at rev-parse HEAD)" = "$before" ] && [ "$(at tag)" = "${tags:-}" ] && at diff --quiet HEAD; }
has() { grep -qxF -e "$2" "$tree/$1"; }
says() { grep -q -e "$1" "$tmp/out"; }
