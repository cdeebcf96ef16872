#!/bin/sh
# SPDX-License-Identifier: MIT
# One filter by the ranks of an MPI job, with a directory that all of them share:
#
#     mpirun -np 4 examples/shards/mpi.sh map DIR 24 split:capacity=100M,fpr=1% keys/*.txt
#     mpirun -np 4 examples/shards/mpi.sh reduce DIR 24 split:capacity=100M,fpr=1%
#     tamis assemble DIR/shards/*.tamis -o whole.tamis
#
# Rank r of n takes every n-th file, then every n-th shard. mpirun waits for all of its ranks, and that
# is the barrier between the two. In a Slurm job, use "srun" instead of mpirun.
set -eu
step=$1 folder=$2 shards=$3 wish=$4
shift 4
rank=${OMPI_COMM_WORLD_RANK:-${SLURM_PROCID:-0}} ranks=${OMPI_COMM_WORLD_SIZE:-${SLURM_NTASKS:-1}}
mkdir -p "$folder/hashes" "$folder/shards"

case $step in
map)
    i=0
    for file; do
        to=$folder/hashes/$i
        if [ $((i % ranks)) -eq "$rank" ]; then
            rm -rf "$to" "$to.new"
            tamis partition -q "$file" --spec "$wish" --shards "$shards" --packed -o "$to.new"
            mv "$to.new" "$to"
        fi
        i=$((i + 1))
    done
    ;;
reduce)
    shard=$rank digits=$(printf %s $((shards - 1)) | wc -c)
    while [ "$shard" -lt "$shards" ]; do
        file=$(printf "%0${digits}d" "$shard")
        cat "$folder"/hashes/*/"$file.hashes" |
            tamis build -qf "$folder/shards/$file.tamis" --packed --strict --spec "$wish" \
                --shard "$shard/$shards"
        shard=$((shard + ranks))
    done
    ;;
*)
    echo "mpi.sh: the first argument is map or reduce, not $step" >&2
    exit 2
    ;;
esac
