# SPDX-License-Identifier: MIT
# The same bytes in little memory and in much, on one thread and on many.
seq 1 2500000 >keys
for kind in blocked quotient; do
    tamis build -q much.tamis keys --kind $kind --threads 1
    tamis build -q little.tamis keys --kind $kind --memory 20M -T 4 --verify
    tac keys | tamis build -q tac.tamis --kind $kind -T0
    cmp much.tamis little.tamis && cmp much.tamis tac.tamis && echo $kind
    rm ./*.tamis
done
ls "$TMPDIR"
echo "# one key, very often"
yes key | head -n 300000 >same
tamis build image.tamis same --memory 1M
rm image.tamis
echo "# smaller segments, and what they cost"
head -n 300000 keys >some
tamis build little.tamis some --kind fuse --memory 2M -T 4
tamis build -q one.tamis some --kind fuse --memory 2M -T 1 && cmp little.tamis one.tamis
tamis build -q much.tamis some --kind fuse && cmp -s much.tamis little.tamis || echo other bytes
tamis check -q little.tamis some && echo all there
echo "# too little, before a key is read"
tamis build image.tamis keys --kind fuse --capacity 1e12 --memory 1M; echo $?
tamis build image.tamis keys --kind binary-fuse --capacity 1M --memory 1M; echo $?
ls ./*.tamis
