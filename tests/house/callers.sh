#!/bin/bash
# SPDX-License-Identifier: MIT
# Every public function has a caller outside its own tests: the command, an engine, a job or an
# example, all of which are compiled and run by tests. What nobody calls, nobody needs; and a binding
# finds an example of everything.
. "$(dirname "$0")/../support/trials.inc"
# Calls are indented; definitions, which jobs have too, are not. Comments call nothing.
grep -rhE '^[[:space:]]' cli engines src/jobs examples README.md --include=*.c --include=*.h --include=README.md |
    grep -vE '^ +\*( |/|$)' | grep -owE 'tamis_[a-z0-9_]+' | LC_ALL=C sort -u >"$work/called"
check "there are callers" "$([ "$(wc -l <"$work/called")" -gt 200 ] || echo "only $(wc -l <"$work/called")")"
check "every public function has one" "$(LC_ALL=C comm -23 tests/symbols.txt "$work/called")"
echo "1..$n"
exit ${code:-0}
