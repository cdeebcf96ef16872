#!/bin/bash
# SPDX-License-Identifier: MIT
# Filters of the Go packages bits-and-blooms/bloom v3 (bytes, JSON, little-endian) and DCSO/bloom
# beside the packages themselves: a thousand random filters each way.
. "$(dirname "$0")/common"
command -v go >/dev/null || skip go "no Go"
export GOPATH=$store/go GOCACHE=$store/go/cache GOFLAGS="-mod=mod -modcacherw"
cp -r "$here/go" "$work/go"
(cd "$work/go" && go build -o "$work/theirs" .) >"$work/go.log" 2>&1 ||
    skip go "the packages cannot be built: $(tail -n 1 "$work/go.log")"

set -o pipefail
both_ways() { # name, format, spec, how
    we_read() { python3 "$here/wishes.py" "$1" "$2" "$3" 1100 1 least=1 | "$work/theirs" write | "$PEER" check; }
    they_read() { python3 "$here/wishes.py" "$1" "$2" "$3" 1100 2 least=1 | "$PEER" make >"$work/ours" && "$work/theirs" read <"$work/ours"; }
    step "$1: what Go wrote, we read and make anew" we_read "$2" "$3" "$4"
    step "$1: what we wrote, Go reads and makes anew" they_read "$2" "$3" "$4"
}
spec="bits-and-blooms:capacity={n},fpr={p}"
both_ways "bits-and-blooms" bits-and-blooms "$spec" "bytes {n} {p}"
both_ways "bits-and-blooms as JSON" bits-and-blooms-json "$spec" "json {n} {p}"
both_ways "bits-and-blooms, little-endian" bits-and-blooms:order=little "$spec" "bytes {n} {p} little"
both_ways "DCSO's Go package" dcso "dcso:capacity={n},fpr={p}" "dcso {n} {p}"
exit $code
