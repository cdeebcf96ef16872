#!/bin/sh
# SPDX-License-Identifier: MIT
# A reducer: lines of SHARD TAB KEY, grouped by shard, to one image for each shard.
# The input is the output of "tamis partition", sorted by Hadoop Streaming, or partitioned by Spark.
#
#     examples/shards/reduce.sh DIR SHARDS SPEC
#
# Prints the names of the images. A task that is repeated, or that runs twice at once, is harmless: an
# image gets its name when it is complete, and both make the same bytes.
set -eu
awk -F '\t' -v folder="$1" -v shards="$2" -v wish="$3" '
    function finish() {
        if (command == "") return
        if (close(command) != 0) exit 1
        print image
    }
    NR == 1 || $1 != shard {
        finish()
        shard = $1
        image = folder "/" shard ".tamis"
        command = "tamis build -qf \"" image "\" --strict --field 2- --spec \"" wish "\" --shard " \
            shard "/" shards
    }
    { print | command }
    END { finish() }'
