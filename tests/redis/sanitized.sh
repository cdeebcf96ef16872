#!/bin/bash
# SPDX-License-Identifier: MIT
# The module in a server with sanitizers, which replace the malloc that server and module share, and
# so see every overrun, use after free and leak. MUTANTS= and PROGRAMS= for other sizes.
cd "$(dirname "$0")/../.." || exit 2
unset B MAKEFLAGS MAKEOVERRIDES # the build below is not the one under test
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
library=$(realpath "$(${CC:-gcc} -print-file-name=libasan.so)")
export TAMIS_REDIS=$PWD/build-san/tamis-redis.so TAMIS_MUTATE=$PWD/build/tests/redis/mutate TAMIS_REDIS_PRELOAD=$library
export ASAN_OPTIONS=detect_leaks=1:verify_asan_link_order=0:allocator_may_return_null=1:log_path=$work/report
export UBSAN_OPTIONS=print_stacktrace=1:log_path=$work/report
export MUTANTS=${MUTANTS:-${SHORT:+20000}} PROGRAMS=${PROGRAMS:-${SHORT:+50}}
[ -n "$MUTANTS" ] || MUTANTS=200000
[ -n "$PROGRAMS" ] || PROGRAMS=300
. "$PWD/tests/support/sanitized.inc"
if [ ! -e "$library" ] || ! command -v redis-server >/dev/null; then
    echo "ok 1 - # SKIP there is no server, or no sanitizer to load into it" && echo 1..1 && exit
fi
try "the module is built for the sanitizers" flock Makefile make -s -j2 SAN=1 build-san/tamis-redis.so
try "and the mutator" flock Makefile make -s build/tests/redis/mutate
for program in own work bounds server_side bf cf cms attacks; do
    [ ! -e "tests/redis/$program.py" ] || try "checked: tests/redis/$program.py" "tests/redis/$program.py"
done
try "checked: $PROGRAMS random programs" tests/redis/programs.py
try "checked: $MUTANTS mutants" tests/redis/mutate.py
echo "1..$n"
exit ${code:-0}
