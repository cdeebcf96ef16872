#!/bin/bash
# SPDX-License-Identifier: MIT
# The shared library exports exactly the names of tests/symbols.txt, all of them tamis_, and the
# headers declare each. A change of the API is then a line in review.
. "$(dirname "$0")/../support/trials.inc"
have=$work/have
nm -D --defined-only "$B/libtamis.so" | awk '$2 ~ /[A-Z]/ {print $3}' | LC_ALL=C sort >"$have"
check "exports are those of tests/symbols.txt" "$(diff tests/symbols.txt "$have")"
check "exports start with tamis_" "$(grep -v '^tamis_[a-z]' "$have")"
check "exports are declared in a public header" \
    "$(while read -r name; do grep -q "\\b$name(" include/*.h || echo "$name"; done <"$have")"
check "internal names of the archive are prefixed" \
    "$(nm --defined-only "$B/libtamis.a" 2>/dev/null | awk '$2 ~ /[A-Z]/ && $3 !~ /^tamis_/ {print $3}')"
echo "1..$n"
exit ${code:-0}
