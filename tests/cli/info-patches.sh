# SPDX-License-Identifier: MIT
# What a patch is, and whether many of them follow each other.
seq 1 500 | tamis build -q 0.tamis --spec classic:capacity=2000
mkdir week
for i in 1 2 3; do
    seq $((i * 1000)) $((i * 1000 + i)) | tamis add -q $((i - 1)).tamis -o $i.tamis
    tamis diff -q $((i - 1)).tamis $i.tamis -o week/$((4 - i)).patch
done
tamis info week/1.patch; echo $?
echo "# a directory, and what else is in it"
cp 0.tamis week/image && echo text >week/readme
tamis info week; echo $?
echo "# several"
tamis info week/1.patch week/2.patch
tamis info 0.tamis week/2.patch | grep -e '^[^ ]'
echo "# no chain: a gap, a fork; the whole image, nothing"
tamis info week/1.patch week/3.patch | tail -n 3
tamis diff -q 0.tamis 3.tamis -o fork.patch
tamis info week/3.patch week/2.patch fork.patch | tail -n 4
seq 1 900 | tamis build -q fuse.tamis -k fuse
tamis diff -q 3.tamis fuse.tamis -o whole.patch; tamis diff -q 3.tamis 3.tamis -o none.patch
tamis info whole.patch none.patch
echo "# --json"
tamis info --json week/1.patch week/2.patch
tamis info --json week | grep -o '"file.*"patches"'
tamis info --json week/1.patch week/3.patch | grep -o '"file.*"patches"'
echo "# refused"
mkdir empty
tamis info empty; echo $?
head -c 70 week/1.patch >cut.patch
tamis info cut.patch 0.tamis | head -n 1; tamis info cut.patch 2>words; echo $?
cp cut.patch week; tamis info week; echo $?; rm week/cut.patch
echo "# signed"
tamis keygen -q my.key 2>words
case $(cat words) in *"without libsodium"*) exit ;; esac
tamis diff -q 0.tamis 1.tamis -o signed.patch --sign my.key
key=$(tail -n 1 my.key.pub)
[ "$(tamis info --json signed.patch | grep -o '"signer": "[0-9a-f]*"')" = "\"signer\": \"$key\"" ] && echo "by my.key"
tamis info signed.patch | sed "s/$key/KEY/"
tamis info signed.patch --verify my.key.pub | tail -n 1 | sed "s/$key/KEY/"
tamis keygen -q other.key
tamis info signed.patch --verify other.key.pub; echo $?
tamis info week/1.patch --verify other.key.pub; echo $?
