#!/bin/bash
# SPDX-License-Identifier: MIT
# The extension with sanitizers, in a DuckDB without: library and extension are checked, and every misplaced read of memory that they
# took is seen. MUTANTS= for another number of damaged images.
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES # the build below is not the one under test
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
library=$(realpath "$(${CC:-gcc} -print-file-name=libasan.so)")
# DuckDB throws exceptions, which a sanitizer must find the way to when it starts.
exceptions=$(realpath "$(${CC:-gcc} -print-file-name=libstdc++.so.6)")
versions=${DUCKDB_VERSIONS:-1.4.4 2.0.0}
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$work/report
export UBSAN_OPTIONS=print_stacktrace=1:log_path=$work/report
export TAMIS=$PWD/build/tamis MUTANTS=${MUTANTS:-${SHORT:+50}} ROUNDS=4
[ -n "$MUTANTS" ] || MUTANTS=600
. "$PWD/tests/support/sanitized.inc"
build() {
    flock Makefile make -s -j2 SAN=1 build-san/duckdb/tamis.duckdb_extension && flock Makefile make -s -j2 build/tamis
}
# The libraries are only for DuckDB's process: the command has none of it.
checked() { # python, program
    TAMIS_DUCKDB=$PWD/build-san/duckdb/tamis.duckdb_extension LD_PRELOAD="$library $exceptions" timeout 900 "$@"
}
if [ ! -e "$library" ] || [ ! -e "$exceptions" ]; then
    echo "ok 1 - # SKIP there is no sanitizer to load" && echo 1..1 && exit
fi
try "the extension is built for the sanitizers" build
[ -z "$code" ] || { echo "1..$n" && exit 1; }
for version in $versions; do
    python=$PWD/build/duckdb/$version/bin/python
    if [ ! -x "$python" ]; then
        n=$((n + 1)) && echo "ok $n - checked with DuckDB $version # SKIP it cannot be had"
        continue
    fi
    for program in values keys files faults sessions; do
        try "checked with DuckDB $version: tests/duckdb/$program.py" checked "$python" "tests/duckdb/$program.py"
    done
done
echo "1..$n"
exit ${code:-0}
