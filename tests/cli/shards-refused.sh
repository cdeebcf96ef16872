# SPDX-License-Identifier: MIT
# What cannot be cut, counted or put together says why, and nothing is written.
try() {
    tamis "$@" </dev/null
    echo "exit $?"
}
seq 1000 >keys
tamis build -q whole.tamis keys
for i in 0 1 2; do tamis build -q $i.tamis keys -n 1000 --shard $i/3; done
echo "-- build" >&2
try build made keys --shard 0/3
try build made keys -n 1000 --shard 3/3
try build made keys -n 1000 --shard 3
try build made keys -n 1000 --shard x/3
try build made keys -n 1000 --shard 0/0
try build made keys -n 1000 --shard 0/1000
try build made keys -n 1000 --shard 0/3 --kind classic
try build made keys -n 1000 --shard 0/3 --hash sip13
try build made keys -n 1000 --shard 0/3 --strict
try build made keys -n 1000 --shard 0/3 --exclude keys
try build made keys -n 1000 --packed
try build made keys -n 1000 --shard 0/3 --packed --null
try build made keys -n 1000 --shard 0/3 --packed
try build made nowhere -n 1000 --shard 0/3 --packed
try build 0.tamis keys -n 1000 --shard 0/3
echo "-- partition" >&2
try partition keys --shards 3
try partition keys -n 1000 --shards 0
try partition keys -n 1000 --shards 3 --packed
try partition keys -n 1000 --shards 3 -o made
mkdir folder
echo mine >folder/mine
try partition keys -n 1000 --shards 3 --packed -o folder
try partition keys -n 1000 --shards 3 --packed -o folder/mine
rm folder/mine
try partition keys -n 1000 --spec split:capacity=9 --shards 3
echo "-- cut" >&2
try cut whole.tamis --shards 0 -o made
try cut whole.tamis --shards 100000 -o made
try cut 0.tamis --shards 2 -o made
try cut whole.tamis --shards 2 -o whole.tamis
try cut whole.tamis --shards 2 -o folder -q
try cut whole.tamis --shards 2 -o folder -q
echo "-- assemble" >&2
try assemble 0.tamis 1.tamis 2.tamis -o -
try assemble 0.tamis 1.tamis 2.tamis -o whole.tamis
try assemble 0.tamis 1.tamis 0.tamis -o made
try assemble 0.tamis whole.tamis keys nowhere.tamis 2.tamis -o made
for wish in "-n 2000" "-n 1000 -p 2%" "-n 1000 --seed 7" "-n 1000 -k split" "-n 1000 --hash xxh64" \
    "--spec blocked:capacity=1000,hashes=7"; do
    tamis build -q 1.tamis keys $wish --shard 1/3 --force
    try assemble 0.tamis 1.tamis 2.tamis -o made
done
tamis build -q 1.tamis keys -n 1000 --shard 1/4 --force
try assemble 0.tamis 1.tamis 2.tamis -o made
ls
