#!/bin/bash
# SPDX-License-Identifier: MIT
# LevelDB's filters beside Debian's libleveldb: a thousand random filters each way, and the table files
# of three hundred databases, with and without compression.
. "$(dirname "$0")/common"
set -o pipefail
[ -e /usr/include/leveldb/db.h ] || apt-get install -y --no-install-recommends libleveldb-dev >"$work/apt.log" 2>&1
"${CXX:-c++}" -std=c++17 -O1 -o "$work/leveldb" "$here/leveldb.cc" -lleveldb 2>"$work/cc.log" ||
    skip leveldb "libleveldb-dev cannot be installed"

wish() { python3 "$here/kv_wishes.py" "$@"; }
we_read() { wish leveldb 1000 1 | "$work/leveldb" write | "$PEER" check; }
they_read() { wish leveldb 1000 2 | "$PEER" make >"$work/ours" && "$work/leveldb" read <"$work/ours"; }
tables() { wish table 300 3 | "$work/leveldb" tables "$work/db" | "$PEER" check; }
step "leveldb: what it wrote, we read and make anew" we_read
step "leveldb: what we wrote, it reads and makes anew" they_read
step "leveldb: every key of its tables is found" tables
exit $code
