# SPDX-License-Identifier: MIT
# More room, or less, without the keys; no answer changes.
seq 1 100 >keys
seq 101 3000 >more
tamis build -q image.tamis keys --spec quotient:capacity=100
tamis check image.tamis more >answers
cp image.tamis before.tamis
tamis resize image.tamis --capacity 1000 -o larger.tamis 2>words; echo $?
sed 's/, [0-9.]* [KM]*i*B.*//' words
cmp image.tamis before.tamis
tamis check -c larger.tamis keys
tamis check larger.tamis more | cmp - answers
tamis resize -q larger.tamis -n 100; echo $?
tamis check -c larger.tamis keys
tamis resize larger.tamis 2>words; echo $?
cat words
tamis resize larger.tamis -n 1 2>words; echo $?
sed 's/^\(tamis: resize: larger.tamis: \).*/\1.../' words
