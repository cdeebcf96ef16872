#!/bin/sh
# SPDX-License-Identifier: MIT
# One filter from many files, by as many processes as there are shards, on one machine:
#
#     examples/shards/build.sh DIR SHARDS SPEC FILE...
#     examples/shards/build.sh parts 24 split:capacity=100M,fpr=1% keys/*.txt
#
# Map: every file is hashed once, and its hashes are sorted into a file for each shard. Reduce: every
# shard is built from its hashes. The image is DIR/whole.tamis, with its manifest next to it.
set -eu
folder=$1 shards=$2 wish=$3
shift 3
export folder shards wish
mkdir -p "$folder/hashes" "$folder/shards"

# A repeated map starts over: its directory is first written in full under another name.
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} sh -c '
    to=$folder/hashes/$(basename "$1")
    rm -rf "$to" "$to.new"
    tamis partition -q "$1" --spec "$wish" --shards "$shards" --packed -o "$to.new" && mv "$to.new" "$to"
' map {}

seq 0 $((shards - 1)) | xargs -P "$(nproc)" -I{} sh -c '
    digits=$(printf %s $((shards - 1)) | wc -c)
    file=$(printf "%0${digits}d" "$1")
    cat "$folder"/hashes/*/"$file.hashes" |
        tamis build -qf "$folder/shards/$file.tamis" --packed --strict --spec "$wish" --shard "$1/$shards"
' reduce {}

tamis assemble "$folder"/shards/*.tamis -fo "$folder/whole.tamis" --json >"$folder/manifest.json"
