#!/bin/bash
# SPDX-License-Identifier: MIT
# Every public function has a caller outside its own tests: the command, an engine, a job or an
# example, all of which are compiled and run by tests. What nobody calls, nobody needs; and a binding
# finds an example of everything.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
# Calls are indented; definitions, which jobs have too, are not. Comments call nothing.
grep -rhE '^[[:space:]]' cli engines src/jobs examples README.md --include=*.c --include=*.h --include=README.md |
    grep -vE '^ +\*' | grep -owE 'tamis_[a-z0-9_]+' | LC_ALL=C sort -u >"$work/called"
n=0
check() {
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
        code=1
    fi
}
check "there are callers" "$([ "$(wc -l <"$work/called")" -gt 200 ] || echo "only $(wc -l <"$work/called")")"
check "every public function has one" "$(LC_ALL=C comm -23 tests/symbols.txt "$work/called")"
echo "1..$n"
exit ${code:-0}
