#!/bin/bash
# SPDX-License-Identifier: MIT
# The footer that tools/duckdb-footer writes, byte by byte, and what it refuses.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0 code=0
check() { # name, command...
    n=$((n + 1))
    if "${@:2}"; then echo "ok $n - $1"; else echo "not ok $n - $1" && code=1; fi
}
field() { # from the end of the file, in fields of 32 bytes
    tail -c "$(($1 * 32))" "$work/made" | head -c 32 | tr -d '\0'
}
is() { # field, text
    [ "$(field "$1")" = "$2" ]
}
is_refused() {
    ! tools/duckdb-footer "$@" >"$work/none" 2>"$work/why" && [ -s "$work/why" ] && [ ! -s "$work/none" ]
}
printf 'a library' >"$work/lib"
tools/duckdb-footer "$work/lib" linux_amd64 v1.2.0 v0.1.0 >"$work/made"
check "512 bytes after the library" [ "$(stat -c %s "$work/made")" = $((9 + 512)) ]
check "the library is first" cmp -s -n 9 "$work/lib" "$work/made"
check "the magic number" is 9 4
check "the platform" is 10 linux_amd64
check "the version of the C API" is 11 v1.2.0
check "the version of the extension" is 12 v0.1.0
check "the kind of interface" is 13 C_STRUCT
check "three empty fields" [ "$(tail -c 512 "$work/made" | head -c 96 | tr -d '\0' | wc -c)" = 0 ]
check "an empty signature" [ "$(tail -c 256 "$work/made" | tr -d '\0' | wc -c)" = 0 ]
check "a field of more than 32 bytes is refused" is_refused "$work/lib" "$(printf %033d 0)" v1.2.0 v0.1.0
check "so are missing arguments" is_refused "$work/lib"
check "and a library that is not there" is_refused "$work/absent" linux_amd64 v1.2.0 v0.1.0
echo "1..$n"
exit $code
