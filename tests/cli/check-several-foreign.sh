# SPDX-License-Identifier: MIT
# Sets of other systems beside ours: files whose bytes say what they are, and kinds that hash
# their own way.
theirs=$(dirname "$0")/../vectors
mkdir lake
cp "$theirs/parquet/duckdb_types.parquet" lake/a.parquet
cp "$theirs/parquet/duckdb_types.parquet" lake/b.parquet
printf '%s\n' key-7 key-50 nothing >log.txt
from=parquet:column=s,group=all
echo "-- a directory, and files"
tamis check --which --from $from lake log.txt; echo $?
tamis check --which --from $from lake/a.parquet lake/b.parquet log.txt; echo $?
echo text >lake/notes
tamis check -c --from $from lake log.txt
tamis check -c --from parquet:column=none lake log.txt; echo $?
echo "-- with an image of ours"
echo nothing | tamis build -q ours.tamis -p 1e-6 --keys bytes
tamis check --which --from $from lake/a.parquet ours.tamis log.txt
tamis check --which --from $from ours.tamis lake/a.parquet log.txt
echo "-- tables of RocksDB and LevelDB"
tamis check --from rocksdb-sst --which "$theirs"/rocksdb/*.sst log.txt 2>&1 | sed "s|$theirs/||"
tamis check -c --from leveldb-table "$theirs/leveldb/leveldb_table_200keys_10bpk.ldb" log.txt 2>&1 |
    sed "s|$theirs/||"
echo "-- a format without a frame: only the first operand, and --image"
seq 1 100 >hundred
tamis build -q guava.tamis hundred -k guava -p 1e-9
tamis convert -q guava.tamis one.bin --to guava
cp one.bin two.bin
printf '%s\n' 7 nothing >few
tamis check --which --from guava one.bin few
tamis check --which --from guava --image one.bin --image two.bin few
tamis check -c --from guava one.bin two.bin few
echo "-- by their own hash and by others, together"
seq 90 110 | tamis build -q more.tamis -p 1e-6
printf '%s\n' 7 95 105 nothing >some
tamis check --which guava.tamis more.tamis some
tamis check --which more.tamis guava.tamis some
tamis check -T 2 --which guava.tamis more.tamis guava.tamis some
echo "-- long keys are hashed in pieces, for each"
(head -c 9000000 /dev/zero | tr '\0' x && echo) >long
tamis build -q long1.tamis long
tamis build -q long2.tamis long --seed 5
tamis build -q long3.tamis long -k guava -n 10 -p 1e-9
tamis check --which long1.tamis long2.tamis more.tamis long3.tamis long | cut -c 8999990-
tamis check -c more.tamis long2.tamis long
tamis check -o -v more.tamis long | cksum
tamis check -n -C 2 more.tamis long long1.tamis; echo $?
(cat long && echo 95) | tamis check -n -B 1 more.tamis; echo $?
(echo 95 && cat long && echo 96) | tamis check -n -A 1 more.tamis | cksum
