#!/bin/bash
# SPDX-License-Identifier: MIT
# Every test program again, in a build that watches each access and each conversion. Laws and the command are
# sanitized_laws.sh's, which calls this one, and the module is tests/redis/sanitized.sh's: all use the same build,
# which one of them makes while the others wait.
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
try "the address and undefined-behaviour build is clean" flock Makefile make -s -j2 SAN=1 programs
check_programs() {
    local program units
    units=$(basename -a -s .c tests/unit/*.c | sed 's|^|build-san/tests/unit/|')
    for program in $units build-san/tests/fuzz/replay build-san/tests/fuzz/replay_rdb; do
        try "checked: ${program#build-san/tests/}" "$program"
    done
    for kept in import talk summary; do
        try "checked: what the fuzzer of $kept kept" "build-san/tests/fuzz/replay_$kept" "tests/fuzz/corpus-$kept"
    done
    try "checked: what the fuzzer of rdb kept" build-san/tests/fuzz/replay_corpus_rdb tests/fuzz/corpus-rdb
}
check_laws() {
    try "checked: every law on every kind, a sixth of the options" build-san/tests/laws/laws --sample
    try "checked: the command" env TAMIS="$PWD/build-san/tamis" tests/cli/run
}
"check_${1:-programs}"

echo "1..$n"
exit ${code:-0}
