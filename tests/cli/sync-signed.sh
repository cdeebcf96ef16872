# SPDX-License-Identifier: MIT
# With --verify, nobody but the owner of the key changes a feed.
tamis keygen -q my.key 2>words
case $(cat words) in *"without libsodium"*) echo "built without libsodium"; exit 77 ;; esac
tamis keygen -q other.key
mkdir lists
make() { # a number, and the key
    seq $1 $((20000 + $1)) >lists/a.txt && seq 1 $((300 + $1)) >lists/b.txt && tamis publish -q lists out --sign $2
}
words() { sed -e 's/[0-9a-f]\{16\}/HEX/g' -e 's/serial [0-9]*/serial N/g' -e 's/than [0-9]*,/than N,/' -e 's/; [0-9.]* [KMi]*B fetched.*//' -e 's/, [0-9.]* [Ki]*B$//' -e 's/, [0-9.]* K*i*B instead.*//'; }
sync() { tamis sync out here "$@" >words.out 2>&1; echo "exit $?"; words <words.out; }
make 1 my.key
sync --verify my.key.pub
make 2 my.key
sync --verify my.key.pub
cmp here/a.tamis out/a.tamis
tamis info out/a.*.patch --verify my.key.pub | grep -c ', verified'
echo "# signed, but nobody asks by whom"
sync
cp -r out good; cp -r here before; make 3 my.key; cp -r out good3
as_before() { diff -r here before && echo "as it was"; }
echo "# another key, none, a signature of something else"
sync --verify other.key.pub; as_before
rm -r out; cp -r good out; tamis publish -q lists out; tamis publish -q lists out --force
sync --verify my.key.pub; as_before
make 3 other.key; sync --verify my.key.pub; as_before
(sed '/^signed/d' out/tamis.index; grep '^signed' good/tamis.index) >forged; cp forged out/tamis.index
sync --verify my.key.pub; as_before
echo "# one byte in the index, wherever it is"
rm -r out; cp -r good3 out
size=$(wc -c <out/tamis.index); at=14
while [ $at -lt $size ]; do
    (head -c $at good3/tamis.index; printf 7; tail -c +$((at + 2)) good3/tamis.index) >out/tamis.index
    cmp -s out/tamis.index good3/tamis.index || ! tamis sync -q out here --verify my.key.pub 2>/dev/null || echo "byte $at"
    at=$((at + 13))
done
as_before
echo "# files that are not those of the index, also with a signature of their own"
cp good3/tamis.index out
for patch in out/a.*.patch out/b.*.patch; do echo X >>$patch; done
cp good/a.tamis out/a.tamis
sync --verify my.key.pub
cmp here/a.tamis before/a.tamis && cmp here/b.tamis out/b.tamis
echo "# replayed"
rm -r out; cp -r good3 out; sync --verify my.key.pub
rm -r out; cp -r good out; sync --verify my.key.pub
cmp here/a.tamis good3/a.tamis
echo "# not a key"
sync --verify my.key; sync --verify lists/a.txt
tamis publish lists out --sign my.key.pub; echo $?
