# What the scripts of this directory share. Sourced, never run.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
base_image=debian:bookworm-slim
# Named by what it is made of: one of an older state of the tree is not taken for it.
image=${PADDOCK_IMAGE:-paddock-zookeeper:$(cat "$here"/image/* | sha256sum | cut -c1-12)}
project=${PADDOCK_PROJECT:-paddock}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
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

compose() {
    if docker compose version >/dev/null 2>&1; then
        docker compose -p "$project" -f "$here/compose.yml" "$@"
    else
        docker-compose -p "$project" -f "$here/compose.yml" "$@"
    fi
}

# The container of service $1, instance $2 (default 1), stopped or not. By label: names differ between the two composes.
container() {
    docker ps -aq --filter "label=com.docker.compose.project=$project" \
        --filter "label=com.docker.compose.service=$1" \
        --filter "label=com.docker.compose.container-number=${2:-1}" --filter "label=com.docker.compose.oneoff=False"
}

# The address of service $1 in network $2 (clients, servers). Asked of the configuration, so that a stopped one answers.
address() {
    docker inspect -f "{{with index .NetworkSettings.Networks \"${project}_$2\"}}{{.IPAMConfig.IPv4Address}}{{end}}" \
        "$(container "$1")"
}

# Ask the server at $1 what it is: leader, follower, or nothing when it does not serve. Never waits over a second.
mode() {
    timeout 1 bash -c 'exec 3<>"/dev/tcp/$0/2181" && printf srvr >&3 && cat <&3' "$1" 2>/dev/null |
        sed -n 's/^Mode: //p'
}
