#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests with threads again, in a build that watches who touches what at the same time.
#
# Nothing is switched off here: what a program gets that is built with -fsanitize=thread is what runs.
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES # the build below is not the one that is being tested
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP TAMIS_QUICK=1
n=0
try() {
    n=$((n + 1))
    if "${@:2}" >"$work/log" 2>&1; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        grep -v '^ok ' "$work/log" | tail -60 | sed 's/^/# /'
        code=1
    fi
}
programs=(laws/laws unit/test_admission unit/test_bulk unit/test_builder unit/test_collecting)
try "the thread build is clean" make -s -j2 SAN=thread "${programs[@]/#/build-thread/tests/}"
try "threads: adding and asking" build-thread/tests/laws/laws many_threads
for program in "${programs[@]:1}"; do
    try "threads: $program" "build-thread/tests/$program"
done

echo "1..$n"
exit ${code:-0}
