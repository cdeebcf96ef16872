#!/bin/bash
# SPDX-License-Identifier: MIT
# Every example is compiled and run: the one in the header, those of the README, examples/*.c.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0
result() { # what, exit code, log
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        sed 's/^/# /' "$3"
        code=1
    fi
}
build() { # source, program
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$1" -o "$2" "$B/libtamis.a" -lm
}

# The header: the lines of its first comment from #include to the closing brace, without " * ".
sed -n '/^ \*     #include/,/^ \*     }$/p' include/tamis.h | sed 's/^ \* \{0,5\}//' >"$work/cat.c"
{ build "$work/cat.c" "$work/cat" && [ "$("$work/cat")" = $'cat: maybe\ndog: no' ]; } >"$work/log" 2>&1
result "the header's example" $? "$work/log"

# The README: ```c blocks are programs; ```sh blocks run in order in one folder with tamis on PATH,
# and a ```text block right after one is what it prints.
awk -v dir="$work" '
    /^```(c|sh|text)$/ { kind = substr($0, 4); i++; next }
    /^```/ { kind = ""; next }
    kind { print > (dir "/block-" sprintf("%02d", i) "." kind) }' README.md
mkdir "$work/run" && cp examples/*.txt "$work/run/"
for block in "$work"/block-*; do
    name=$(basename "$block")
    case $block in
    *.c)
        { build "$block" "$work/program" && (cd "$work/run" && ../program) >"$work/out"; } >"$work/log" 2>&1
        result "README $name compiles and runs" $? "$work/log"
        ;;
    *.sh)
        grep -q -E '^(make|sudo|cc|git) ' "$block" && continue # building and installing: other tests
        (cd "$work/run" && PATH=$(dirname "$TAMIS"):$PATH bash -eu "$block") >"$work/out" 2>"$work/log"
        result "README $name runs" $? "$work/log"
        ;;
    *.text)
        diff "$block" "$work/out" >"$work/log" 2>&1
        result "README $name is what it prints" $? "$work/log"
        ;;
    esac
done

for source in examples/*.c; do
    { build "$source" "$work/program" && (cd "$work/run" && ../program); } >"$work/log" 2>&1
    result "$source" $? "$work/log"
done
echo "1..$n"
exit ${code:-0}
