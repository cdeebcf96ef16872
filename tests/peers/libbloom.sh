#!/bin/bash
# SPDX-License-Identifier: MIT
# Filters of libbloom beside libbloom: a thousand random filters each way, the bits of Debian's 1.6
# (libbloom-dev) and the files of 2.0, whose source is taken from $LIBBLOOM_SOURCE or from its home.
. "$(dirname "$0")/common"
CC=${CC:-cc}

set -o pipefail
both_ways() { # version, program, format, spec
    wish() { python3 "$here/wishes.py" "$1" "$2" "{n} {p}" 1000 "$3" least=1000; }
    we_read() { wish "$1" "$2" 1 | "$3" write "$work/file" | "$PEER" check; }
    they_read() { wish "$1" "$2" 2 | "$PEER" make >"$work/ours" && "$3" read "$work/file" <"$work/ours"; }
    step "libbloom $1: what it wrote, we read and make anew" we_read "$3" "$4" "$2"
    step "libbloom $1: what we wrote, it reads and makes anew" they_read "$3" "$4" "$2"
}

spec="libbloom:capacity={n},fpr={p}"
[ -e /usr/include/bloom.h ] || apt-get install -y --no-install-recommends libbloom-dev >"$work/apt.log" 2>&1
if "$CC" -O1 -o "$work/one" "$here/libbloom.c" -lbloom -lm 2>"$work/cc.log"; then
    both_ways 1.6 "$work/one" "libbloom1:entries={n},error={p}" "$spec,version=1"
else
    leave_out "libbloom 1.6" "libbloom-dev cannot be installed"
fi

source=${LIBBLOOM_SOURCE:-$store/libbloom}
[ -e "$source/bloom.c" ] ||
    timeout 60 git clone -q --depth 1 -b v2.0 https://github.com/jvirkki/libbloom "$source" >"$work/git.log" 2>&1
if [ -e "$source/bloom.c" ] &&
    "$CC" -O1 -DTWO -DBLOOM_VERSION=2.0 -DBLOOM_VERSION_MAJOR=2 -DBLOOM_VERSION_MINOR=0 -I"$source" -I"$source/murmur2" \
        -o "$work/two" "$here/libbloom.c" "$source/bloom.c" "$source/murmur2/MurmurHash2.c" -lm 2>"$work/cc.log"; then
    both_ways 2.0 "$work/two" libbloom "$spec"
else
    leave_out "libbloom 2.0" "its source cannot be had: set LIBBLOOM_SOURCE to a folder with it"
fi
exit $code
