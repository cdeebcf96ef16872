#!/bin/bash
# SPDX-License-Identifier: MIT
# xor_singleheader's binary fuse filters against ours: the same keys give the same bytes, both ways.
# The header comes from $XOR_SINGLEHEADER, a folder that has include/binaryfusefilter.h, or from GitHub.
cd "$(dirname "$0")/../.." || exit 2
B=${B:-$PWD/build} CC=${CC:-cc}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
from=${XOR_SINGLEHEADER:-$work/xor}
if [ ! -e "$from/include/binaryfusefilter.h" ]; then
    timeout 60 git clone -q --depth 1 https://github.com/FastFilter/xor_singleheader "$from" 2>/dev/null ||
        { echo "1..1" && echo "ok 1 - binary-fuse # SKIP no xor_singleheader" && exit 0; }
fi
echo "1..1"
$CC -O2 -std=gnu11 -w -isystem "$from/include" -Iinclude tests/peers/binaryfuse.c "$B/libtamis.a" -lm -lpthread -o "$work/peer" ||
    { echo "not ok 1 - binary-fuse: does not compile" && exit 1; }
"$work/peer" 1200
