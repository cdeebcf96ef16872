#!/bin/bash
# SPDX-License-Identifier: MIT
# DCSO's filters beside Debian's tool bloom (golang-github-dcso-bloom-cli): a thousand random filters
# each way, some of them with data. Keys that a line cannot hold are tried by go.sh.
. "$(dirname "$0")/common"
bloom --version 2>/dev/null | grep -q '0\.2\.' ||
    apt-get install -y --no-install-recommends golang-github-dcso-bloom-cli >"$work/apt.log" 2>&1 ||
    skip dcso "golang-github-dcso-bloom-cli cannot be installed"

spec="dcso:capacity={n},fpr={p}"
wish() { python3 "$here/wishes.py" dcso "$spec" "{n} {p} $1" "$2" "$3" least=1 lines; }
we_read() { wish "$1" "$2" 1 | python3 "$here/dcso.py" write "$work" | "$PEER" check; }
they_read() { wish - 1000 2 | "$PEER" make >"$work/ours" && python3 "$here/dcso.py" read "$work" <"$work/ours"; }
set -o pipefail
step "dcso: what bloom wrote, we read and make anew" we_read - 1000
step "dcso: what bloom wrote, with data, we read" we_read "data-{seed}" 100
step "dcso: what we wrote, bloom reads and makes anew" they_read
exit $code
