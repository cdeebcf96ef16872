# SPDX-License-Identifier: MIT
# With --verify every patch of a chain is signed with that key, for the image it is applied to.
tamis keygen -q my.key 2>words
case $(cat words) in *"without libsodium"*) echo "built without libsodium"; exit 77 ;; esac
tamis keygen -q other.key
seq 1 500 | tamis build -q 0.tamis --spec classic:capacity=2000
for i in 1 2 3; do
    seq $((i * 1000)) $((i * 1000 + i)) | tamis add -q $((i - 1)).tamis -o $i.tamis
    tamis diff -q $((i - 1)).tamis $i.tamis -o $i.patch --sign my.key
    tamis diff -q $((i - 1)).tamis $i.tamis -o $i.plain
    tamis diff -q $((i - 1)).tamis $i.tamis -o $i.other --sign other.key
done
tamis apply 0.tamis 3.patch 2.patch 1.patch --verify my.key.pub -o a.tamis; echo $?
cmp a.tamis 3.tamis
tamis apply 0.tamis [123].patch -o b.tamis; echo $?
cmp b.tamis 3.tamis
tamis apply 0.tamis [123].patch --verify my.key.pub -o json.tamis --json | grep -o '"is_verified": [a-z]*'
cp 0.tamis image.tamis
tamis apply image.tamis 1.patch 2.plain 3.patch --verify my.key.pub; echo $?
tamis apply image.tamis 1.patch 2.patch 3.other --verify my.key.pub; echo $?
tamis apply image.tamis 1.other 2.patch 3.patch --verify my.key.pub; echo $?
(cat 2.plain; tail -c 200 3.patch) >moved.patch
tamis apply image.tamis 1.patch moved.patch 3.patch --verify my.key.pub; echo $?
cmp image.tamis 0.tamis && echo "as it was"
