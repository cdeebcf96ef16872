#!/bin/sh
# SPDX-License-Identifier: MIT
# Includes follow the arrows, and the tool that says so can say no.
cd "$(dirname "$0")/../.." || exit 2
if out=$(tools/layers 2>&1); then echo "ok 1 - includes follow the arrows"; else
    echo "not ok 1 - includes follow the arrows"
    echo "$out" | sed 's/^/# /'
    code=1
fi

copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
cp -R include src cli tools "$copy"
echo '#include "core/filter.h"' >>"$copy/src/bits/bits.h"
if (cd "$copy" && tools/layers >/dev/null 2>&1); then
    echo "not ok 2 - an include against the arrows is found"
    code=1
else
    echo "ok 2 - an include against the arrows is found"
fi
echo 1..2
exit ${code:-0}
