# SPDX-License-Identifier: MIT
# What several machines build is, put together, what one builds: by keys, by hashes, and cut.
wish='--spec split:capacity=10000,fpr=1% --note source=seq'
seq 10000 >keys
tamis build -q whole.tamis keys $wish
mkdir keyed hashed
for i in 0 1 2 3 4 5 6 7 8 9 10; do tamis build -q keyed/$i.tamis keys $wish --shard $i/11; done
tamis build keyed/3.tamis keys $wish --shard 3/11 --force
tamis assemble keyed/*.tamis -o one.tamis
cmp whole.tamis one.tamis && echo "by keys: the same bytes"

tamis partition keys --spec split:capacity=10000,fpr=1% --shards 11 --packed -o hashes
for i in 00 01 02 03 04 05 06 07 08 09 10; do
    tamis build -q hashed/$i.tamis --packed --strict $wish --shard ${i#0}/11 <hashes/$i.hashes
done
tamis assemble -q hashed/*.tamis -o two.tamis
cmp whole.tamis two.tamis && echo "by hashes: the same bytes"

tamis cut whole.tamis --shards 100 -o cut
ls cut | head -n 2
tamis assemble -q cut/*.tamis -o three.tamis
cmp whole.tamis three.tamis && echo "cut: the same bytes"

echo "-- keyed, with one secret, and keys in another form"
printf '000102030405060708090a0b0c0d0e0f' >secret
wish='-k blocked -n 10000 --secret-file secret --canon lower'
tamis build -q whole.tamis keys $wish -f
tamis partition keys $wish --shards 2 | awk -F '\t' '{ print $2 >"part" $1 }'
for i in 0 1; do tamis build -q shard$i.tamis part$i $wish --shard $i/2 --strict; done
tamis assemble shard1.tamis shard0.tamis -o four.tamis --secret-file secret
cmp whole.tamis four.tamis && echo "the same bytes"
tamis info shard1.tamis --secret-file secret | grep -v 'hash\|fpr now\|fill'

echo "-- shards of more than a megabyte, of which the router needs a part"
tamis partition keys --spec blocked:capacity=5M --shards 3 | awk -F '\t' '{ print $2 >"large" $1 }'
for i in 0 1 2; do tamis build -q large$i.tamis large$i --spec blocked:capacity=5M --shard $i/3 --strict; done
tamis build -q whole.tamis keys --spec blocked:capacity=5M -f
tamis assemble -q large?.tamis -o five.tamis
cmp whole.tamis five.tamis && echo "the same bytes"
