# What the scripts of this directory share. Sourced, never run.

unset CDPATH
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The Debian release whose ZooKeeper the servers run: bookworm has 3.8.0, trixie 3.9.3.
suite=${PADDOCK_SUITE:-bookworm}
# i386 has an image of its own, for docker/bare.
arch=${PADDOCK_ARCH:-}
base_image_of() { [ -z "$arch" ] && echo "debian:$1-slim" || echo "$arch/debian:$1-slim"; }
base_image=$(base_image_of "$suite")
# The image for release $1. Named by what it is made of: one of an older state of the tree is not taken for it.
image_of() {
    local sum
    sum=$(cat "$here"/image/* | sha256sum)
    echo "paddock-zookeeper:$1-${sum:0:12}"
}
image=${PADDOCK_IMAGE:-$(image_of "$suite")}
project=${PADDOCK_PROJECT:-paddock}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# It cannot be done here, and nothing is wrong.
skip() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 77
}

note() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# Another namespace, a chroot: only root may. The command may be exec'ed, so that its pid is the caller's.
if [ "$(id -u)" = 0 ]; then as_root=(); else as_root=(sudo -n); fi

# One line on standard output that says why Docker cannot be used here; nothing when it can.
missing() {
    command -v docker >/dev/null || { echo "no docker command"; return; }
    docker version --format '{{.Server.Version}}' >/dev/null 2>&1 || { echo "no Docker engine answers"; return; }
    compose version >/dev/null 2>&1 || { echo "neither 'docker compose' nor docker-compose works"; return; }
}

# Ends with a word about it when no server of the project is there, running or stopped.
must_be_up() {
    local reason
    reason=$(missing)
    [ -z "$reason" ] || die "$reason"
    [ -n "$(container zk1)" ] || die "no ensemble is up (project $project): docker/ensemble up makes one"
}

compose() {
    if docker compose version >/dev/null 2>&1; then
        docker compose -p "$project" -f "$here/compose.yml" "$@"
    else
        docker-compose -p "$project" -f "$here/compose.yml" "$@"
    fi
}

# See that the image is there.
build() {
    local log
    docker image inspect "$image" >/dev/null 2>&1 && return
    "$here/base"
    note "building $image"
    log=$(mktemp)
    docker build --network host -q --build-arg "SUITE=$suite" -t "$image" "$here/image" >"$log" 2>&1 || {
        cat "$log" >&2
        rm -f "$log"
        die "the image does not build"
    }
    rm -f "$log"
}

# The container of service $1, instance $2 (default 1), stopped or not. By label: names differ between the two composes.
container() {
    docker ps -aq --filter "label=com.docker.compose.project=$project" \
        --filter "label=com.docker.compose.service=$1" \
        --filter "label=com.docker.compose.container-number=${2:-1}" --filter "label=com.docker.compose.oneoff=False"
}

# The first three numbers of the project's network $1 (clients, servers).
net() { docker network inspect -f '{{(index .IPAM.Config 0).Subnet}}' "${project}_$1" | sed 's/\.[0-9]*\/.*//'; }

# The address of service $1 in network $2 (clients, servers). Asked of the configuration, so that a stopped one answers.
address() {
    docker inspect -f "{{with index .NetworkSettings.Networks \"${project}_$2\"}}{{.IPAMConfig.IPv4Address}}{{end}}" \
        "$(container "$1")"
}

# Where the keys of the project's servers are; nothing when they speak plain text alone.
keys() {
    docker inspect -f '{{range .Mounts}}{{if eq .Destination "/tls"}}{{if eq .Type "bind"}}{{.Source}}{{end}}{{end}}{{end}}' \
        "$(container zk1)"
}

# Ask the server at $1 what it is: leader, follower, or nothing when it does not serve. Never waits over a second.
mode() {
    timeout 1 bash -c 'exec 3<>"/dev/tcp/$0/2181" && printf srvr >&3 && cat <&3' "$1" 2>/dev/null |
        sed -n 's/^Mode: //p'
}
