#!/bin/bash
# SPDX-License-Identifier: MIT
# Fuzzing of everything that takes bytes from outside, with the sanitizers on and from what was kept of earlier runs:
# no finding in ten million inputs. How many there were is what the fuzzers say; a run of fewer than it was to have fails.
#
#     FUZZ_SHARE=100 tests/proof/fuzz.sh      a hundredth of them
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES # the builds below are not the one that is being tested
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0 total=0 least=0 share=${FUZZ_SHARE:-1}
run() { # goal, inputs, through what, format
    local wanted=$(($2 / share)) log=$work/log inputs
    n=$((n + 1)) least=$((least + wanted))
    make -s "$1" FUZZ_RUNS="$wanted" FORMAT="${4:-}" >"$log" 2>&1
    local rc=$?
    inputs=$(awk '/number_of_executed_units/ {print $2}' "$log")
    total=$((total + ${inputs:-0}))
    if [ $rc -eq 0 ] && [ "${inputs:-0}" -ge "$wanted" ]; then
        echo "ok $n - $inputs inputs through $3"
    else
        echo "not ok $n - the fuzzer of $3 ended with $rc after ${inputs:-no} inputs of $wanted"
        tail -60 "$log" | sed 's/^/# /'
        code=1
    fi
}
run fuzz 1600000 "the gate: images, patches, memories of admission"
run fuzz-talk 1000000 "conversations"
run fuzz-summary 2000000 "messages between caches"
run fuzz-redis 1000000 "values of the module for Redis"
# Rates of LevelDB and RocksDB are found by trying, which takes a hundred times as long as all the rest of an input.
for format in $(sed -n 's/^FORMAT(\(.*\))$/\1/p' src/foreign/formats.def | tr _ -); do
    case $format in leveldb* | rocksdb*) each=5000 ;; *) each=165000 ;; esac
    run fuzz-import $each "the reader of $format" "$format"
done

n=$((n + 1))
[ "$share" -ne 1 ] || [ $least -ge 10000000 ] || least=10000000
if [ $total -ge $least ]; then echo "ok $n - $total inputs in all"; else
    echo "not ok $n - $total inputs in all, not $least" && code=1
fi
echo 1..$n
exit ${code:-0}
