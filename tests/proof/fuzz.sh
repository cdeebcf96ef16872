#!/bin/bash
# Short fuzzing runs of what takes bytes from outside, with the sanitizers on: no finding in FUZZ_SECONDS.
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES # the builds below are not the one that is being tested
log=$(mktemp) && trap 'rm -f "$log"' EXIT
n=0 seconds=${FUZZ_SECONDS:-${SHORT:+15}}
run() { # goal, through what
    n=$((n + 1))
    if make -s "$1" FUZZ_SECONDS="${seconds:-40}" >"$log" 2>&1; then
        echo "ok $n - $(awk '/number_of_executed_units/ {print $2}' "$log") inputs through $2"
    else
        echo "not ok $n - the fuzzer found something in $2"
        tail -60 "$log" | sed 's/^/# /'
        code=1
    fi
}
run fuzz "the gate"
run fuzz-talk "conversations"
run fuzz-summary "messages between caches"
run fuzz-redis "values of the module for Redis"
echo 1..$n
exit ${code:-0}
