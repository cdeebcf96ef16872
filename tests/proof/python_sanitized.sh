#!/bin/bash
# SPDX-License-Identifier: MIT
# The module of Python with sanitizers, under all of its tests: library and module are checked, the interpreter is not. Its objects
# come from malloc, so that a read behind a str or a buffer is seen too.
cd "$(dirname "$0")/../.." || exit 2
python=$(realpath -ms "${B:-build}")/python/venv/bin/python
unset B MAKEFLAGS MAKEOVERRIDES # the build below is not the one under test
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
library=$(realpath "$(${CC:-gcc} -print-file-name=libasan.so)")
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:log_path=$work/report
export UBSAN_OPTIONS=print_stacktrace=1:log_path=$work/report
export TAMIS=$PWD/build/tamis
. "$PWD/tests/support/sanitized.inc"
if [ ! -e "$library" ] || [ ! -x "$python" ]; then
    echo "ok 1 - # SKIP there is no environment (make python-ready), or no sanitizer to load into it" && echo 1..1 && exit
fi
build() { flock Makefile make -s -j2 SAN=1 "PYTHON=$python" build-san/python/tree/tamis/_tamis.abi3.so; }
# What starts other programs is tested without sanitizers, as is what counts blocks of memory.
checked() {
    (cd tests/python-binding && PYTHONPATH=$OLDPWD/build-san/python/tree PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc LD_PRELOAD=$library \
        timeout 1200 "$python" -m pytest -p no:terminal -p no:cacheprovider -p tap_plugin "$@")
}
try "the module is built for the sanitizers" build
[ -z "$code" ] || { echo "1..$n" && exit 1; }
for part in filter keys columns model compat; do
    try "checked: test_$part.py" checked "test_$part.py"
done
try "checked: test_bytes.py" checked test_bytes.py -k "not command and not processes"
try "checked: test_hostile.py" checked test_hostile.py -k "not fork"
try "checked: test_memory.py" checked test_memory.py -k "memory_is_lost"
echo "1..$n"
exit ${code:-0}
