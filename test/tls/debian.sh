# Debian's source packages, for builds of our own. Sourced, by sh; no rights are needed. Exits 77, with a word, when
# something cannot be had.

java=/usr/share/java

skip() {
    echo "$*"
    exit 77
}

missing=
lacks() { missing="$missing $1"; }
has() { command -v "$1" >/dev/null; }

# What the functions below need. The caller adds its own, and asks all_is_there.
need_sources() {
    has apt-get || skip "this machine has no apt-get: the client is built from Debian's source package"
    has dpkg-source || lacks dpkg-dev
    has java || lacks default-jre-headless
    [ -f $java/zookeeper-jute.jar ] || lacks libzookeeper-java
}
all_is_there() { [ -z "$missing" ] || skip "these packages are missing; on Debian: apt-get install$missing"; }

apt() {
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources" \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/archives" -o APT::Sandbox::User="$(id -un)" "$@"
}

# The machine's own archives, for source packages too, with lists of our own in the directory $work, where we are then.
archives() {
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/sources"
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb deb-src/' "$file" >"$work/sources/${file##*/}"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -f "$file" ] || sed -n 's/^deb \(.*\)/deb \1\ndeb-src \1/p' "$file" >"$work/sources/one-${file##*/}"
    done
    cd "$work" || exit 99
    apt update >update.log 2>&1 || skip "no lists of source packages: $(grep -h '^[EW]:' update.log | tail -1)"
}

# source_package NAME: unpacked, as $work/NAME.
source_package() {
    apt source --download-only "$1" >source.log 2>&1 || skip "the source package $1 cannot be had: $(tail -1 source.log)"
    dpkg-source -x "$1"_*.dsc "$1" >unpack.log 2>&1 || skip "the source package cannot be unpacked: $(tail -1 unpack.log)"
}

# ZooKeeper's, with what it lacks generated. The C client is in $client. OpenSSL 3 has no FIPS_mode(), with which
# $client_flags does away.
zookeeper_source() {
    source_package zookeeper
    client=$work/zookeeper/zookeeper-client/zookeeper-client-c
    client_flags="-D'FIPS_mode()=0'"
    mkdir -p "$client/generated" && (
        cd "$client/generated" && java -XX:-UsePerfData -cp $java/zookeeper-jute.jar org.apache.jute.compiler.generated.Rcc \
            -l c "$work/zookeeper/zookeeper-jute/src/main/resources/zookeeper.jute"
    ) >generate.log 2>&1 || skip "the client's source is not generated: $(tail -1 generate.log)"
}
