#!/usr/bin/env bash
# hold.sh PATH...: work on each PATH under its lock, all locks through one `paddock hold --json`. See doc/hold-json.md.
#
# The locks are requested at once, and the work on a path begins when its lock comes. PADDOCK_HOSTS has the ensemble.
# Exit status: 0 all work was done, 1 a lock was not granted within 5 seconds, or was lost.
set -u

# The least time for which a lock must be certain before a step of the work begins.
step_ms=500

coproc HOLD { exec "${PADDOCK:-paddock}" hold --json --label hold.sh; }
events=${HOLD[0]} requests=${HOLD[1]} holder=$HOLD_PID

# text NAME, number NAME: a member of the event in $line. In a string of JSON the quotes of other words are escaped, so
# the pattern finds members only.
text() { [[ $line =~ \"$1\":\"(([^\"\\]|\\.)*)\" ]] && printf '%s' "${BASH_REMATCH[1]}"; }
number() { [[ $line =~ \"$1\":(-?[0-9]+) ]] && printf '%s' "${BASH_REMATCH[1]}"; }

say() { printf '%s\n' "$1" >&"$requests"; }

# A path as a string of JSON.
quoted() {
    local path=${1//\\/\\\\}
    printf '"%s"' "${path//\"/\\\"}"
}

paths=("$@") left=$# status=0

# ask ID: how certain is the lock now? A lock has one question at a time. An answer that waited while a step was worked
# counts for nothing: its valid_ms is of the time before.
asked=() steps=0
ask() {
    [[ -z ${asked[$1]-} ]] || return
    asked[$1]=$steps
    say "{\"id\":$1,\"do\":\"state\"}"
}

# One step, which needs no more than step_ms. Data that check tokens get the token with each write.
work() { echo "${paths[$1]}: working under token $2"; }

for id in "${!paths[@]}"; do
    say "{\"id\":$id,\"do\":\"lock\",\"path\":$(quoted "${paths[id]}"),\"wait\":5}"
done

# Every lock ends by one of released, lost and failed.
while ((left > 0)) && IFS= read -r line <&"$events"; do
    id=$(number id)
    case $(text event) in
    held) ask "$id" ;; # the line may have waited
    state)
        at=${asked[id]} asked[id]=
        if [[ $(text state) != held ]] || (($(number valid_ms) < step_ms)); then
            continue # a later event tells: held once more, or lost
        elif ((at != steps)); then
            ask "$id"
        else
            steps=$((steps + 1))
            work "$id" "$(number token)"
            say "{\"id\":$id,\"do\":\"unlock\"}"
        fi
        ;;
    released)
        echo "${paths[id]}: released"
        left=$((left - 1))
        ;;
    lost | failed)
        echo "${paths[id]}: $(text error)"
        left=$((left - 1)) status=1
        ;;
    error)
        echo "hold.sh: $(text message)" >&2
        [[ -n $id ]] || break # a request was not understood, as of a path with a tab: it has no end
        ;;
    esac
done

# The end of its input ends the process. It releases what it holds.
exec {requests}>&-
wait "$holder" || exit
exit $((left > 0 ? 1 : status))
