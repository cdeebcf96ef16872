#!/bin/sh
# SPDX-License-Identifier: MIT
# Every kind has a test of its own, a page and a golden image; every foreign one a golden image.
cd "$(dirname "$0")/../.." || exit 2
n=0
result() { # what it is about, what is missing
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
        code=1
    fi
}
kinds() { # of a list: id and name, ids below 1000 are ours
    sed -n 's/^KIND(\([0-9]*\), \([a-z0-9_]*\))$/\1 \2/p' "$1"
}
has_image() { # folder, name
    for image in "$1/$2"-[0-9]*.tamis; do [ -e "$image" ] && return; done
    return 1
}
missing() { # list of kinds
    kinds "$1" | while read -r id name; do
        if [ "$id" -lt 1000 ]; then
            grep -q "[\"{ ]$name:" "tests/unit/test_$name.c" 2>/dev/null ||
                echo "tests/unit/test_$name.c, with filters of that kind"
            [ -s "docs/kinds/$name.md" ] || echo "docs/kinds/$name.md"
            has_image tests/golden "$name" || echo "tests/golden/$name-1.tamis"
        else
            file=$(echo "$name" | tr _ -)
            has_image tests/golden/foreign "$file" || echo "tests/golden/foreign/$file-1.tamis"
        fi
    done
}

list=src/kinds/kinds.def
[ "$(kinds $list | wc -l)" -eq "$(grep -c '^KIND(' $list)" ] && [ "$(kinds $list | wc -l)" -gt 50 ]
result "the list of kinds is read" "$([ $? -eq 0 ] || echo "some of $list")"
result "each has what belongs to it" "$(missing $list)"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
printf 'KIND(34, unheard)\nKIND(1024, foreign_one)\n' >"$work/kinds.def"
result "what a new one lacks is told" "$([ "$(missing "$work/kinds.def" | wc -l)" -eq 4 ] || missing "$work/kinds.def")"
echo "1..$n"
exit "${code:-0}"
