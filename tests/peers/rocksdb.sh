#!/bin/bash
# SPDX-License-Identifier: MIT
# RocksDB's filters beside Debian's librocksdb: a thousand random filters each way for both rules, a
# thousand that nobody writes, and table files of versions 2 to 5 with every checksum, with and without
# compression, Bloom and Ribbon, whole and in partitions.
. "$(dirname "$0")/common"
set -o pipefail
CXX=${CXX:-c++}
[ -e /usr/include/rocksdb/db.h ] || apt-get install -y --no-install-recommends librocksdb-dev >"$work/apt.log" 2>&1
[ -e /usr/include/rocksdb/db.h ] || skip rocksdb "librocksdb-dev cannot be installed"
"$CXX" -std=c++17 -fno-rtti -O1 -o "$work/rocksdb" "$here/rocksdb.cc" -lrocksdb 2>"$work/cc.log" ||
    skip rocksdb "librocksdb is not of version 7.8"
"$CXX" -std=c++17 -O1 -I"$here/../../include" -o "$work/parts" "$here/parts.cc" "$B/libtamis.a" -lm -lpthread 2>"$work/cc.log" ||
    skip rocksdb "no $B/libtamis.a"

wish() { python3 "$here/kv_wishes.py" "$@"; }
we_read() { wish "$1" 1000 1 | "$work/rocksdb" write | "$PEER" check; }
they_read() { wish "$1" 1300 2 | with_keys | "$PEER" make >"$work/ours" && "$work/rocksdb" read <"$work/ours"; }
# Where RocksDB writes no filter for no keys, we make one that can take some.
with_keys() { awk '/^case/ { case_ = ""; has = 0 } { case_ = case_ $0 "\n" } /^spec/ { has = 1 } /^end/ && has { printf "%s", case_ }'; }
odd() { wish odd 1000 3 | "$work/rocksdb" answer | "$PEER" check; }
tables() { wish table 400 4 | "$work/rocksdb" tables "$work/sst" | "$PEER" check; }
parts() { wish table 200 5 | "$work/rocksdb" parts "$work/sst" | "$work/parts"; }
for rule in fast legacy; do
    step "rocksdb, $rule: what it wrote, we read and make anew" we_read $rule
    step "rocksdb, $rule: what we wrote, it reads and makes anew" they_read $rule
done
step "rocksdb: bytes that nobody writes are answered as it does" odd
step "rocksdb: the filters of its tables answer as it does" tables
step "rocksdb: every key of tables in partitions is found" parts
exit $code
