# Pages whose console lines are run. Sourced after lib.sh by the tests that run them.
#
# In a block ```console, after "$ " stands a command line of sh, and below it all that it says, on both outputs. "..."
# stands for any text in a line, and several spaces count as one. A program or a script, in a block ```c or ```sh, is a
# file: its first line begins with a comment that names it, "/* NAME:" or "# NAME:".

# script_of PAGE: its files and its command lines, in order, each command after a mark.
script_of() {
    awk '
        /^```$/ { if (kind == "file") print "@@END"; kind = ""; next }
        kind == "" && /^```console$/ { kind = "console"; next }
        kind == "" && /^```(c|sh)$/ { kind = "name"; next }
        kind == "name" {
            name = $2
            if (sub(/:$/, "", name) != 1 || name !~ /^[a-z][a-z_.]*$/) {
                print "echo \"line " NR " of the page names no file\""
                exit
            }
            print "cat >" name " <<'\''@@END'\''"
            kind = "file"
        }
        kind == "file"
        kind == "console" && /^\$ / { print "printf \"%s\\n\" @@" ++n; print substr($0, 3) }' "$1"
}

# said_in PAGE: the same marks, and the lines that the page shows between them.
said_in() {
    awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on && /^\$ / { print "@@" ++n; next } on' "$1"
}

# same EXPECTED GOT: line by line; the first difference is printed, with the mark before it. A release that takes more
# than a second is no difference.
same() {
    tr -s ' ' <"$1" | sed 's/ $//' >"$1.lean"
    tr -s ' ' <"$2" | sed -e '/waiting up to 5 s for a server, to /d' -e 's/ $//' >"$2.lean"
    exec 3<"$2.lean"
    mark=
    while IFS= read -r wanted; do
        IFS= read -r got <&3 || { echo "after $mark no more is said; the page has: $wanted"; return 1; }
        pattern=$(printf '%s' "$wanted" | sed -e 's/[][\\*?]/\\&/g' -e 's/ *\.\.\. */*/g')
        # shellcheck disable=SC2254 # a pattern it is
        case $got in
        $pattern) ;;
        *) echo "after $mark the page has: $wanted"; echo "it says: $got"; return 1 ;;
        esac
        case $wanted in @@*) mark=$wanted ;; esac
    done <"$1.lean"
    ! IFS= read -r got <&3 || { echo "after $mark it says more: $got"; return 1; }
}
