# SPDX-License-Identifier: MIT
# The main job: two files with a report, more with a list, images, and a file beside an image.
seq 1 5000 >a
seq 2501 7500 >b
seq 1 100 >c
cp a d
echo "-- two files"
tamis similar a b
echo "-- exactly"
tamis similar --exact a b
cat a c a | tamis similar --exact - a
echo "-- pairs of many, the most similar first"
tamis similar --min-similarity 0.01 a b c d
echo "-- and those above one half"
tamis similar --exact a b c d
echo "-- images of filters and of sketches"
for kind in minhash blocked classic; do
    tamis build -q "a.$kind" a -k $kind -n 5000
    tamis build -q "b.$kind" b -k $kind -n 5000
    tamis similar "a.$kind" "b.$kind"
done
echo "-- a file beside an image"
tamis similar a.minhash b
echo "-- few bits of each number"
tamis fold -q a.minhash --keep 4 -o a.few
tamis fold -q b.minhash --keep 4 -o b.few
tamis similar a.few b.few
echo "-- fewer bins, still the sketch of its keys"
tamis fold -q a.minhash 8 -o a.fold
tamis build -q a.small a --spec minhash:bins=128 && tamis similar a.fold a.small
echo "-- more numbers, a smaller error"
tamis similar --bins 65536 a b
echo "-- from a pipe, and fields"
seq 2501 7500 | tamis similar a -
awk '{print "x\t" $1}' b >fields
awk '{print "y\t" $1 * 2}' b | tamis similar --exact --field 2 - fields
echo "-- all but a few are not all, and a few are not none"
seq 1 1000000 >most
(seq 1 999989 && seq 2000001 2000011) >almost
tamis similar --exact most almost
tamis similar --exact most almost most
tamis similar most almost | head -n 1
(seq 1 11 && seq 2000001 2999989) >others
tamis similar --exact most others | head -n 1
tamis similar most others | head -n 1
