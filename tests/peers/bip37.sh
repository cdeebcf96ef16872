#!/bin/bash
# SPDX-License-Identifier: MIT
# Bitcoin's filterload payloads beside npm's bfilter (bcoin): a thousand random filters each way.
. "$(dirname "$0")/common"
command -v npm >/dev/null || skip bip37 "no npm"
export NODE_PATH=$store/bfilter/node_modules NODE_BACKEND=js
if [ ! -d "$NODE_PATH/bfilter" ]; then
    npm install --silent --no-audit --no-fund --prefix "$store/bfilter" bfilter@2.4.0 >"$work/npm.log" 2>&1 ||
        skip bip37 "bfilter cannot be installed by npm"
fi
bfilter() { node "$here/bip37.js" "$@"; }

we_read() { bfilter write 1200 1 | "$PEER" check; }
they_read() { bfilter wish 1200 2 | "$PEER" make >"$work/ours" && bfilter read <"$work/ours"; }
set -o pipefail
step "bip37: what bfilter wrote, we read and make anew" we_read
step "bip37: what we wrote, bfilter reads and makes anew" they_read
exit $code
