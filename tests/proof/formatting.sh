#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source is as clang-format writes it, so that no change is about blanks.
cd "$(dirname "$0")/../.." || exit 2
if out=$(make -s tidy-format 2>&1); then echo "ok 1 - sources are formatted"; else
    echo "not ok 1 - sources are formatted"
    echo "$out" | grep 'error:' | sed 's/:.*//' | sort -u | sed 's/^/# /'
    code=1
fi
echo 1..1
exit ${code:-0}
