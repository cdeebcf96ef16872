#!/bin/bash
# SPDX-License-Identifier: MIT
# tamis_constant_at gives every constant that the public headers declare, with its value, and no
# others: enums and TAMIS_VERSION_*. A binding needs no reader of C.
. "$(dirname "$0")/../support/trials.inc"
# The enums of every header as the compiler sees them: macros are done, comments gone.
declared() {
    for header in include/*.h; do
        echo "#include \"${header#include/}\""
    done | $CC -Iinclude -E -P - | tr '\n' ' ' | grep -oE '\benum( +[a-z_0-9]+)? *\{[^}]*\}' |
        grep -oE '\bTAMIS_[A-Z0-9_]+' | sort -u
    sed -n 's/^#define \(TAMIS_VERSION_[A-Z]*\) .*/\1/p' include/tamis.h
}
print_declared() {
    echo '#include <stdio.h>'
    for header in include/*.h; do echo "#include \"${header#include/}\""; done
    echo 'int main(void) {'
    declared | sed 's/.*/    printf("& %lld\\n", (long long)&);/'
    echo '    return 0; }'
}
cat >"$work/given.c" <<'END'
#include <stdio.h>
#include "tamis.h"
int main(void) {
    const char *name;
    int64_t value;
    for (size_t i = 0; tamis_constant_at(i, &name, &value); i++) printf("%s %lld\n", name, (long long)value);
    return 0;
}
END
print_declared >"$work/declared.c"
build() { $CC -std=c11 -Iinclude "$work/$1.c" -o "$work/$1" "$B/libtamis.a" -lm -pthread && "$work/$1" | LC_ALL=C sort >"$work/$1.txt"; }
try "a program with every constant is built" build declared
try "and one that asks for them" build given
try "there are a hundred or so" test "$(wc -l <"$work/declared.txt")" -ge 80
try "names and values are those of the headers" diff "$work/declared.txt" "$work/given.txt"
echo "1..$n"
exit ${code:-0}
