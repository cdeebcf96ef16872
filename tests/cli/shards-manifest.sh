# SPDX-License-Identifier: MIT
# What is there of a set of shards: files, counts, checksums; incomplete sets become no image.
seq 1000 >keys
for i in 0 1 2 3 4 5 6 7; do tamis build -q $i.tamis keys -n 1000 --shard $i/8; done
tamis assemble [0-7].tamis
tamis assemble [0-7].tamis --json | tr '{' '\n'
echo "exit $?"
for set in "1.tamis" "0.tamis 2.tamis 4.tamis 7.tamis" "0.tamis"; do
    tamis assemble $set
    echo "$set: exit $?"
    tamis assemble $set -o whole.tamis
    echo "$set: exit $?"
done
tamis assemble 0.tamis 5.tamis --json | tr '{' '\n' | head -n 3
ls
