#!/bin/sh
# SPDX-License-Identifier: MIT
# The sources are tidy, and the tool that says so can say no.
cd "$(dirname "$0")/../.." || exit 2
n=0
check() { # name, whether it holds, what was said
    n=$((n + 1))
    if [ "$2" = yes ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        echo "$3" | sed 's/^/# /'
        code=1
    fi
}
if out=$(tools/tidy 2>&1); then check "the sources are tidy" yes; else check "the sources are tidy" no "$out"; fi

copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
cp -R Makefile CMakeLists.txt mk include src cli engines bindings tests bench examples tools "$copy"
if (cd "$copy" && tools/tidy >/dev/null 2>&1); then check "so is a copy" yes; else check "so is a copy" no; fi
refuses() { # name, file, line
    cp "$copy/$2" "$copy/saved" 2>/dev/null || :
    echo "$3" >>"$copy/$2"
    if (cd "$copy" && tools/tidy >/dev/null 2>&1); then check "$1" no; else check "$1" yes; fi
    if [ -e "$copy/saved" ]; then mv "$copy/saved" "$copy/$2"; else rm "$copy/$2"; fi
}
refuses "a long line is found" src/bits/bits.h "/* $(printf '%0100d' 0) */"
refuses "a second file of one name is found" cli/filter.h "/* SPDX-License-Identifier: MIT */"
refuses "a limit with its noun first is found" src/bits/bits.h "enum { BITS_MOST = 1 };"
refuses "a source without a licence is found" cli/unsaid.h "/* A file of nobody's. */"
echo "1..$n"
exit ${code:-0}
