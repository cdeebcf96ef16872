# SPDX-License-Identifier: MIT
# The union is bit for bit the filter of all keys.
seq 1 100 >one
seq 50 150 >two
seq 900 999 >three
for set in one two three; do tamis build -q $set.tamis $set -n 500; done
cat one two three | tamis build -q all.tamis -n 500
tamis union -q one.tamis two.tamis three.tamis -o union.tamis
cmp all.tamis union.tamis && echo same
tamis check -c union.tamis one two three
tamis union one.tamis two.tamis -o union.tamis
echo $?
tamis union one.tamis two.tamis -o - 2>words | tamis check -c - one two
sed 's/, [0-9].*//' words
