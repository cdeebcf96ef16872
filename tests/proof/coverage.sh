#!/bin/bash
# SPDX-License-Identifier: MIT
# What stands between outside bytes and a filter is tested branch by branch: all branches of these files are taken
# both ways, and each condition of a decision alone changes its outcome (MC/DC). Clang 19 counts them.
#
#     tests/proof/coverage.sh [FILE...]      below 100 % fails; the lines that are missing are shown
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES # the build below is not the one that is being tested
export CMOCKA_MESSAGE_OUTPUT=TAP TAMIS_QUICK=1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

files=(src/file/image.c src/file/notes.c src/file/patch.c src/core/spec.c src/foreign/thrift.c
    src/foreign/sstable.c src/foreign/redisdump.c src/jobs/frames.c)
[ $# -eq 0 ] || files=("$@")
tests=(image notes patch spec plans parquet parquet_files builder sstable rocksdb redis rediscms frames)
programs=("${tests[@]/#/build-coverage/tests/unit/test_}")

command -v clang-19 llvm-cov-19 llvm-profdata-19 >/dev/null || { echo "ok 1 - coverage # SKIP clang-19 and llvm-19 are not here" && echo 1..1 && exit; }
n=0
tell() { # ok or not ok, what
    n=$((n + 1))
    echo "$1 $n - $2"
    [ "$1" = ok ] || code=1
}

make -s -j2 B=build-coverage CC=clang-19 \
    CFLAGS='-O1 -g1 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc' "${programs[@]}" >"$work/log" 2>&1 ||
    { tail -30 "$work/log" | sed 's/^/# /' && tell "not ok" "the build for coverage" && echo 1..1 && exit 1; }
export work
# shellcheck disable=SC2016
printf '%s\n' "${programs[@]}" | xargs -P 2 -I {} bash -c '
    name=$(basename {})
    LLVM_PROFILE_FILE=$work/$name.raw {} >"$work/$name.log" 2>&1 || touch "$work/$name.red"'
for program in "${tests[@]/#/test_}"; do
    [ ! -e "$work/$program.red" ] || { tell "not ok" "$program, built for coverage" && grep -v '^ok ' "$work/$program.log" | tail -20 | sed 's/^/# /'; }
done
llvm-profdata-19 merge -o "$work/all" "$work"/*.raw || exit 2
about() { llvm-cov-19 "$1" "${programs[0]}" "${programs[@]/#/-object=}" -instr-profile "$work/all" "${@:2}"; }

for file in "${files[@]}"; do
    # shellcheck disable=SC2016
    figures=$(about export -summary-only "$file" 2>"$work/log" | python3 -c '
import json, sys
totals = json.load(sys.stdin)["data"][0]["totals"]
print(*(totals[what][part] for what in ("branches", "mcdc") for part in ("covered", "count")))')
    read -r branches all_branches conditions all_conditions <<<"$figures"
    told="$file: $branches of $all_branches branches, $conditions of $all_conditions conditions by MC/DC"
    if [ -n "$all_branches" ] && [ "$all_branches" -gt 0 ] && [ "$branches $conditions" = "$all_branches $all_conditions" ]; then
        tell ok "$told"
    else
        tell "not ok" "$told"
        about show -show-branches=count -show-mcdc "$file" 2>/dev/null |
            grep -E '(Branch .*(True|False): 0[],]|not covered|MC/DC Decision)' | grep -B1 -E 'Branch|not covered' | sed 's/^/# /'
    fi
done
echo "1..$n"
exit ${code:-0}
