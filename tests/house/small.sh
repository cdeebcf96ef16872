#!/bin/bash
# SPDX-License-Identifier: MIT
# `make KINDS=blocked` makes a library of at most 100 KiB: every function of tamis.h is there, the kind
# works, what is left out says so, and names that there are not are refused.
. "$(dirname "$0")/../support/trials.inc"
most=102400
# Another make than the one that may have started this.
unset MAKEFLAGS MAKELEVEL MFLAGS
small() { make -s CC="${CC:-cc}" CFLAGS=-Os B="$work/small" "$@"; }
refuses() { # sentence, argument of make...
    ! small "${@:2}" all >"$work/said" 2>&1 && cat "$work/said" && grep -qF -- "$1" "$work/said"
}
so=$work/small/libtamis.so
version=$(sed -n 's/^#define TAMIS_VERSION_[MP][A-Z]* //p' include/tamis.h | paste -sd.)
is_small() {
    strip -s -o "$work/stripped" "$so" && stat -c '%s bytes' "$work/stripped" &&
        [ "$(stat -c %s "$work/stripped")" -le $most ]
}
# All but the jobs.
has_all_of_tamis_h() {
    tr '\n' ' ' <include/tamis_jobs.h | grep -o 'TAMIS_API [^;(]*(' | grep -o 'tamis_[a-z0-9_]*($' | tr -d '(' >"$work/jobs"
    [ -s "$work/jobs" ] || return
    nm -D --defined-only "$so" | awk '$2 ~ /[A-Z]/ {print $3}' | LC_ALL=C sort >"$work/have"
    grep -vxF -f "$work/jobs" tests/symbols.txt | diff - "$work/have"
}

try "a library of one kind is built" small -j2 KINDS=blocked "$so.$version"
try "stripped it has at most $most bytes" is_small
try "it has every function of tamis.h" has_all_of_tamis_h
try "a program for it is built" ${CC:-cc} -std=c11 -Wall -Wextra -Iinclude tests/house/small.c -o "$work/program" -L"$work/small" -ltamis
# Its tests are counted on from here.
LD_LIBRARY_PATH=$work/small "$work/program" "$work/saved.tamis" >"$work/told" || code=1
awk -v n=$n '/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++n) } !/^1\.\./ { print }' "$work/told"
n=$((n + $(grep -cE '^(not )?ok ' "$work/told")))
try "a kind that there is not is refused" refuses "KINDS: there is no kind 'blockd'; there are classic blocked" KINDS=blockd
try "and a format" refuses "FORMATS: there is no format 'parket'; there are guava hadoop" FORMATS=parket
try "and a part" refuses "WITH: there is no part 'job'; there are jobs builder" KINDS=blocked WITH=job
try "a format brings its kinds" sh -c "tools/small $work/list blocked bits-and-blooms,parquet &&
    [ \"\$(grep -c ^KIND $work/list/kinds.def)\" = 3 ] && grep -q bits_and_blooms $work/list/kinds.def"
try "every format and every kind can be chosen" sh -c "tools/small $work/list \
    \"\$(sed -n 's/^KIND([0-9]*, \(.*\))\$/\1/p' src/kinds/kinds.def | tr '\n' ' ')\" \
    \"\$(sed -n 's/^FORMAT(\(.*\))\$/\1/p' src/foreign/formats.def | tr '\n' ' ')\" &&
    [ \"\$(grep -c ^KIND src/kinds/kinds.def)\" = \"\$(grep -c ^KIND $work/list/kinds.def)\" ] &&
    [ \"\$(cat $work/list/instead)\" = 'src/absent/no_constants.c src/absent/no_patches.c src/absent/no_pages.c src/absent/no_slices.c' ]"
echo "1..$n"
exit ${code:-0}
