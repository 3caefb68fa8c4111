# Counts the library benchmarks of a gungraun or iai-callgrind program with valgrind alone, where its runner is missing.
# Arguments: harness, valgrind (empty: none), toggle, then the functions that mark the wanted case in a profile (empty:
# all cases), then the program. Everything is left in $BENCHGATE_SCRATCH: `facts`, and one `*.callgrind` for each case.
dir=$BENCHGATE_SCRATCH harness=$1 valgrind=$2 toggle=$3 group=$4 function=$5
shift 5

# A stand-in for the runner: the program tells it its version, its kind, its module, and on standard input its benchmarks.
mkdir "$dir/bin" || exit 1
cat >"$dir/bin/$harness-runner" <<'END'
#!/bin/sh
printf '%s\n' "$1" "$2" "$6" >"$BENCHGATE_SCRATCH/facts"
exec cat >"$BENCHGATE_SCRATCH/payload"
END
chmod +x "$dir/bin/$harness-runner"
PATH=$dir/bin:$PATH "$@" --bench >"$dir/output" 2>"$dir/errors" </dev/null
status=$?
if ! [ -s "$dir/facts" ]; then
    # The path of a real runner is built into the program: it has done its work.
    cat "$dir/errors" >&2
    exit $status
fi
{ read -r version && read -r kind; } <"$dir/facts"
case $valgrind:$harness:$version:$kind in
?*:gungraun:0.20.*:--lib-bench | ?*:iai-callgrind:0.16.*:--lib-bench) ;;
# The caller reads the facts, and says what is missing.
*) exit 0 ;;
esac

# Counts the case that $case selects; false where there is none. Ends the script with the first failing benchmark, and
# after the wanted one.
count() {
    profile=$dir/$(echo $case | tr ' ' .).callgrind
    # Without valgrind first: the end of the list is found a hundred times faster.
    if ! "$@" $flags $case >"$dir/output" 2>"$dir/errors" </dev/null &&
        grep -q -e 'index out of bounds' -e 'index should be within bounds' "$dir/errors"; then
        return 1
    fi
    "$valgrind" -q --tool=callgrind --callgrind-out-file="$profile" --toggle-collect="$toggle" \
        "$@" $flags $case >"$dir/output" 2>"$dir/errors" </dev/null
    status=$?
    if [ $status -ne 0 ]; then
        rm -f "$profile"
        cat "$dir/errors" >&2
        exit $status
    fi
    if [ -n "$group" ] && grep -q "$group\$" "$profile" && grep -q "$function\$" "$profile"; then
        exit 0
    fi
    return 0
}

counted_nothing() {
    grep -q '^summary: 0$' "$profile"
}

# Counts all cases of the group $of; false where there is none.
count_group() {
    first=0
    while second=0; case="$of $first $second" && count "$@"; do
        while
            # A case that is an iterator counts nothing by itself, only each of its elements does.
            if [ "$harness" = gungraun ] && counted_nothing; then
                third=0
                while case="$of $first $second $third" && count "$@" && ! counted_nothing; do
                    third=$((third + 1))
                done
            fi
            second=$((second + 1))
            case="$of $first $second"
            count "$@"
        do :; done
        first=$((first + 1))
    done
    [ $first -ne 0 ]
}

if [ "$harness" = gungraun ]; then
    flags='--gungraun-run d:d:000000' of=0
    while count_group "$@"; do of=$((of + 1)); done
else
    # Groups go by their names, which are among the words of the payload.
    flags=--iai-run
    for of in $(tr -c 'A-Za-z0-9_' '\n' <"$dir/payload" | sort -u); do
        case $of in setup | teardown) continue ;; esac
        "$@" --iai-run "$of" 0 0 2>&1 </dev/null | grep -q 'not found in this scope' || count_group "$@"
    done
fi
exit 0
