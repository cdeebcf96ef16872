# SPDX-License-Identifier: MIT
# Several patches: in any order, each for what the one before made, all of them or nothing.
seq 1 500 | tamis build -q 0.tamis --spec classic:capacity=2000
for i in 1 2 3 4 5; do
    seq $((i * 1000)) $((i * 1000 + i)) | tamis add -q $((i - 1)).tamis -o $i.tamis
    tamis diff -q $((i - 1)).tamis $i.tamis -o $i.patch
done
cp 0.tamis image.tamis
tamis apply image.tamis 3.patch 1.patch 2.patch; echo $?
cmp image.tamis 3.tamis && echo "as the third"
echo "# some were applied before"
tamis apply image.tamis 5.patch 4.patch 3.patch 2.patch; echo $?
cmp image.tamis 5.tamis && echo "as the last"
inode=$(ls -i image.tamis)
tamis apply image.tamis 5.patch 4.patch; echo $?
[ "$inode" = "$(ls -i image.tamis)" ] && echo "not written again"
tamis apply image.tamis 5.patch; echo $?
tamis apply -q image.tamis 5.patch 4.patch -o - | cmp - 5.tamis && echo "a copy of it"
echo "# twice the same, and a directory"
tamis apply -q 0.tamis 1.patch 2.patch 1.patch 2.patch -o - | cmp - 2.tamis
mkdir week
cp [1-5].patch week && cp 0.tamis week/0 && echo text >week/readme && mkdir week/sub
tamis apply 0.tamis week -o out.tamis; echo $?
cmp out.tamis 5.tamis
tamis apply -q 0.tamis week 5.patch -o - | cmp - 5.tamis
tamis diff -q 5.tamis 5.tamis -o empty.patch
tamis apply -q 0.tamis week empty.patch -o - | cmp - 5.tamis
echo "# --json"
tamis apply 1.tamis 3.patch 1.patch 2.patch --json -o json.tamis
tamis apply 3.tamis 3.patch 1.patch --json -f -o json.tamis
echo "# refused: nothing is written"
cp 0.tamis image.tamis
tamis apply image.tamis 1.patch 3.patch; echo $?
tamis apply image.tamis 2.patch 3.patch; echo $?
tamis diff -q 0.tamis 4.tamis -o other.patch
tamis apply image.tamis 1.patch 2.patch other.patch; echo $?
head -c 70 2.patch >cut.patch
tamis apply image.tamis 1.patch cut.patch 3.patch; echo $?
tamis apply image.tamis 1.patch nowhere.patch; echo $?
tamis apply image.tamis week/sub; echo $?
tamis apply image.tamis 1.patch week/readme; echo $?
(ulimit -f 0; trap '' XFSZ; tamis apply -q image.tamis 1.patch 2.patch; echo $?) 2>&1 | cat
cmp image.tamis 0.tamis && echo "as it was"
echo "# back and forth"
tamis diff -q 1.tamis 0.tamis -o back.patch
tamis apply -q 0.tamis 1.patch back.patch -o - | cmp - 1.tamis
tamis apply -q 1.tamis 1.patch back.patch -o - | cmp - 0.tamis
echo "# many"
cat 0.tamis >image.tamis
for i in $(seq 1 60); do
    echo "key $i" | tamis add -q image.tamis -o next.tamis
    tamis diff -q image.tamis next.tamis -o many-$(((i * 37) % 61)).patch
    mv next.tamis image.tamis
done
tamis apply 0.tamis many-*.patch -o many.tamis; cmp many.tamis image.tamis
