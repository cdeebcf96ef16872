#!/bin/bash
# tamis.h is plain C11, clean in C++, and needs nothing included before it.
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
    return tamis_plan("capacity=10", &plan, sizeof plan) != TAMIS_OK;
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
    END { exit bad }' include/tamis.h
echo "1..$n"
exit ${code:-0}
