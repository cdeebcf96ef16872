#!/bin/bash
# SPDX-License-Identifier: MIT
# Bitcoin's block filters beside npm's golomb (bcoin): a thousand random filters each way.
. "$(dirname "$0")/common"
command -v npm >/dev/null || skip bip158 "no npm"
export NODE_PATH=$store/golomb/node_modules NODE_BACKEND=js
if [ ! -d "$NODE_PATH/golomb" ]; then
    # Its parts in C++ are not needed: there is JavaScript for all of them.
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$store/golomb" golomb@1.2.0 >"$work/npm.log" 2>&1 ||
        skip bip158 "golomb cannot be installed by npm"
fi
golomb() { node "$here/bip158.js" "$@"; }

we_read() { golomb write 1200 1 | "$PEER" check; }
they_read() { golomb wish 1200 2 | "$PEER" make >"$work/ours" && golomb read <"$work/ours"; }
set -o pipefail
step "bip158: what golomb wrote, we read and make anew" we_read
step "bip158: what we wrote, golomb reads and makes anew" they_read
exit $code
