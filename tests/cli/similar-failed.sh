# SPDX-License-Identifier: MIT
# What does not go.
seq 1 50 >a
tamis build -q m a -k minhash
tamis build -q m2 a --spec minhash:bins=128
tamis build -q seed a --spec minhash:seed=7
tamis build -q fuse a -k fuse
seq 10 59 | tamis build -q hex -k minhash --keys hex
tamis fold -q m --keep 4 -o few
printf 'damaged' | cat m - >damaged
try() {
    tamis similar "$@" 2>words
    echo "similar $*: exit $?"
    sed 's/; kinds that can:.*//' words >&2
}
try a
try a missing
try m m2
try m seed
try fuse fuse
try m hex
try few a
try few m
try damaged a
try --exact m a
try --shingles 2 m a
try --shingles 0 a a
try --shingles 65 a a
try --exact --bins 64 a a
try --bins 15 a a
try --bins 65537 a a
try --min-similarity 1.5 a a
try --min-similarity 1 a m
seq 60 99 >b
try --min-similarity 1% a b
