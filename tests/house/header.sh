#!/bin/bash
# SPDX-License-Identifier: MIT
# The public headers need nothing included before them, and every compiler is silent about them.
. "$(dirname "$0")/../support/trials.inc"
strict="-Wall -Wextra -Wpedantic -Werror -Iinclude"
cat >"$work/a.c" <<'END'
#include "tamis.h"
#include "tamis.h"
int main(void) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    return tamis_plan_spec("capacity=10", &plan) != TAMIS_OK;
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
    FNR == 1 { math = 0 }
    /All are pure. Threads: any/ { math = 1 }
    math { rule = 1 }
    END { exit bad }' include/tamis*.h
words() { sed 's/tamis_[a-z]*\.h//g' | grep -owE 'tamis_[a-z0-9_]+' | sort -u; }
declared() { for header in include/*.h; do $CC -fpreprocessed -dD -E "$header"; done; }
no_others() {
    declared | words >"$work/declared" && cat include/*.h | words >"$work/named" &&
        [ -s "$work/declared" ] && ! comm -23 "$work/named" "$work/declared" | grep .
}
try "comments name only what is declared" no_others
loud="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -fsyntax-only"
silent() { # language, compiler, standard...
    local language=$1 compiler=$2 header standard
    shift 2
    for header in include/*.h; do
        echo "#include \"${header#include/}\"" >"$work/alone.$language"
        for standard in "$@"; do
            "$compiler" -std="$standard" $loud "$work/alone.$language" || { echo "$header, $standard" && return 1; }
        done
    done
}
try "every header alone is silent from C99 to C23" silent c "$CC" c99 c11 c17 c2x
try "and from C++11 to C++20" silent cpp "$CXX" c++11 c++14 c++17 c++20
try "tamis.h is read in one sitting: at most 110 functions" \
    test "$(grep -c '^TAMIS_API' include/tamis.h)" -le 110
cat >"$work/f.c" <<'END'
#include "tamis_inline.h"
int main(void) {
    tamis *f;
    struct tamis_inline fast = TAMIS_INLINE_INIT;
    if (tamis_create(&f, "blocked:capacity=10,hashes=8") || tamis_inline_edit(f, &fast)) return 1;
    tamis_inline_add_u64(&fast, 7);
    return !tamis_inline_has_u64(&fast, 7);
}
END
cp "$work/f.c" "$work/f.cpp"
# The inline header is another one for each vector unit: with each that this processor has.
units="plain"
grep -q -w bmi2 /proc/cpuinfo && units="$units avx2"
grep -q -w avx512_bitalg /proc/cpuinfo && units="$units avx512"
for unit in $units; do
    case $unit in
    avx2) flags="-mavx2" ;;
    avx512) flags="-mavx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512ifma -mavx512bitalg" ;;
    *) flags="" ;;
    esac
    try "the inline header, $unit, as C11" $CC -std=c11 $strict $flags "$work/f.c" -o "$work/f" "$B/libtamis.a" -lm
    try "and runs" "$work/f"
    try "the inline header, $unit, as C++11" $CXX -std=c++11 $strict $flags "$work/f.cpp" -o "$work/g" "$B/libtamis.a" -lm
    try "and runs there" "$work/g"
    try "the inline header, $unit, has the handle's answers" sh -c "$CC -O2 -std=c11 $flags -Iinclude -I. -Isrc \
        -D_XOPEN_SOURCE=700 tests/unit/test_inline.c tests/support/filters.c tests/support/keys.c \
        -o $work/t $B/libtamis.a -lcmocka -lm -pthread && $work/t"
done
echo "1..$n"
exit ${code:-0}
