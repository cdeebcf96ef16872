# SPDX-License-Identifier: MIT
# A patch is for one image and comes whole, or nothing happens.
seq 1 500 >keys
tamis build -q old.tamis keys --spec classic:capacity=1000
seq 501 503 | tamis add -q old.tamis -o new.tamis
seq 504 505 | tamis add -q old.tamis -o other.tamis
tamis diff -q old.tamis new.tamis -o a.patch
cp old.tamis before.tamis
mkdir folder
tamis apply old.tamis; echo $?
tamis apply old.tamis missing.patch; echo $?
tamis apply missing.tamis a.patch; echo $?
tamis apply folder a.patch; echo $?
tamis apply old.tamis folder; echo $?
tamis apply old.tamis /dev/null; echo $?
tamis apply old.tamis new.tamis; echo $?
tamis apply old.tamis keys; echo $?
tamis apply other.tamis a.patch; echo $?
echo "# damaged"
size=$(wc -c <a.patch)
for cut in 1 63 64 100 $((size - 1)); do
    head -c "$cut" a.patch >cut.patch
    tamis apply old.tamis cut.patch; echo $?
done
(cat a.patch; echo) >long.patch
tamis apply old.tamis long.patch; echo $?
(head -c 70 a.patch; printf '\125'; tail -c +72 a.patch) >changed.patch
tamis apply old.tamis changed.patch; echo $?
(head -c 301 old.tamis; printf '\125'; tail -c +303 old.tamis) >changed.tamis
tamis apply changed.tamis a.patch; echo $?
echo "# what is there stays"
tamis apply old.tamis a.patch -o other.tamis; echo $?
tamis apply old.tamis a.patch -o folder; echo $?
tamis apply old.tamis a.patch --verfy k; echo $?
(ulimit -f 0; trap '' XFSZ; tamis apply old.tamis a.patch; echo $?) 2>&1 | cat
if [ -c /dev/full ]; then
    tamis apply old.tamis a.patch -o - >/dev/full; echo $?
fi
tamis apply -q old.tamis a.patch -o - >&-; echo $?
cmp old.tamis before.tamis
ls
