# SPDX-License-Identifier: MIT
# Folding keeps every key and makes the image smaller; the keys may come before or after.
seq 1 200 >keys
tamis build -q big.tamis keys --spec blocked:capacity=10k,size=64KiB
payload() { tamis info --json "$1" | grep -o '"payload_bytes": [0-9]*'; }
payload big.tamis
tamis fold big.tamis 4 -o small.tamis 2>words
sed 's/, fpr.*//' words
payload small.tamis
tamis fold -q big.tamis --by=4 -o by.tamis
cmp small.tamis by.tamis
tamis check -c small.tamis keys
tamis fold -q big.tamis --fpr 1% -o least.tamis
payload least.tamis
tamis check -c least.tamis keys
