#!/bin/bash
# tamis.h, tamis_jobs.h and tamis_fast.h are plain C11, clean in C++, and need nothing included before them.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0
try() { # what, command...
    n=$((n + 1))
    if "${@:2}" >"$work/log" 2>&1; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        sed 's/^/# /' "$work/log"
        code=1
    fi
}
strict="-Wall -Wextra -Wpedantic -Werror -Iinclude"
cat >"$work/a.c" <<'END'
#include "tamis.h"
#include "tamis.h"
int main(void) {
    struct tamis_plan plan;
    return tamis_plan_spec("capacity=10", &plan, sizeof plan) != TAMIS_OK;
}
END
cp "$work/a.c" "$work/a.cpp"
try "compiles as strict C11" $CC -std=c11 $strict "$work/a.c" -o "$work/a" "$B/libtamis.a" -lm
try "and runs" "$work/a"
try "compiles as strict C++11" $CXX -std=c++11 $strict "$work/a.cpp" -o "$work/b" "$B/libtamis.a" -lm
try "and runs there" "$work/b"
try "compiles as C17" $CC -std=c17 $strict -c "$work/a.c" -o "$work/c.o"
try "includes only three headers" sh -c \
    '! grep -E "^ *# *include" include/tamis.h | grep -v -E "<(stdbool|stddef|stdint)\.h>"'
try "every function ends its comment with its thread rule" awk '
    /^\/\*/ { rule = 0 }
    /Threads:/ { rule = 1 }
    /^\/\* ====/ { rule = 0 }
    /^TAMIS_API/ && !rule { print FILENAME ":" FNR ": " $0; bad = 1 }
    /The mathematics/ { rule = 1 }
    /^\/\*/ && math { rule = 1 }
    /The mathematics/ { math = 1 }
    END { exit bad }' include/tamis.h include/tamis_jobs.h
words() { sed 's/tamis_[a-z]*\.h//g' | grep -owE 'tamis_[a-z0-9_]+' | sort -u; }
declared() { for header in include/*.h; do $CC -fpreprocessed -dD -E "$header"; done; }
no_others() { ! comm -23 <(cat include/*.h | words) <(declared | words) | grep .; }
try "comments name only what is declared" no_others
sed 's/tamis\.h/tamis_jobs.h/' "$work/a.c" >"$work/j.c"
cp "$work/j.c" "$work/j.cpp"
try "the header of jobs as strict C11" $CC -std=c11 $strict -c "$work/j.c" -o "$work/j.o"
try "and as strict C++11" $CXX -std=c++11 $strict -c "$work/j.cpp" -o "$work/j.o"
cat >"$work/f.c" <<'END'
#include "tamis_fast.h"
int main(void) {
    tamis *f;
    struct tamis_fast fast;
    if (tamis_create(&f, "blocked:capacity=10,hashes=8") || tamis_fast_edit(f, &fast)) return 1;
    tamis_fast_add_u64(&fast, 7);
    return !tamis_fast_has_u64(&fast, 7);
}
END
cp "$work/f.c" "$work/f.cpp"
# The fast header is another one for each vector unit: with each that this processor has.
units="plain"
grep -q -w bmi2 /proc/cpuinfo && units="$units avx2"
grep -q -w avx512_bitalg /proc/cpuinfo && units="$units avx512"
for unit in $units; do
    case $unit in
    avx2) flags="-mavx2" ;;
    avx512) flags="-mavx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512ifma -mavx512bitalg" ;;
    *) flags="" ;;
    esac
    try "the fast header, $unit, as C11" $CC -std=c11 $strict $flags "$work/f.c" -o "$work/f" "$B/libtamis.a" -lm
    try "and runs" "$work/f"
    try "the fast header, $unit, as C++11" $CXX -std=c++11 $strict $flags "$work/f.cpp" -o "$work/g" "$B/libtamis.a" -lm
    try "and runs there" "$work/g"
    try "the fast header, $unit, has the handle's answers" sh -c "$CC -O2 -std=c11 $flags -Iinclude -I. -Isrc \
        -D_XOPEN_SOURCE=700 tests/unit/test_fast.c tests/support/filters.c tests/support/keys.c \
        -o $work/t $B/libtamis.a -lcmocka -lm -pthread && $work/t"
done
echo "1..$n"
exit ${code:-0}
