# SPDX-License-Identifier: MIT
# What comes from outside is what the index says, or nothing is replaced; one feed that fails does not stop the
# others.
mkdir lists
make() { # a number
    seq $1 $((20000 + $1)) >lists/a.txt && seq 1 $((300 + $1)) >lists/b.txt && tamis publish -q lists out
}
words() { sed -e 's/[0-9a-f]\{16\}/HEX/g' -e 's/serial [0-9]*/serial N/g' -e 's/than [0-9]*,/than N,/' -e 's/[0-9][0-9,]* bytes/N bytes/' -e 's/; [0-9.]* [KMi]*B fetched.*//' -e 's/, [0-9.]* [Ki]*B$//' -e 's/, [0-9.]* K*i*B instead.*//'; }
refused() { # the words of a sync that must not succeed
    tamis sync "$@" >words.out 2>&1; echo "exit $?"; words <words.out
}
make 1 && tamis sync -q out here && cp -r here first
make 2; make 3
cp -r out good
patch=$(ls out/a.*.patch | tail -n 1)
renew() { rm -rf out here && cp -r good out && cp -r first here; }
holds() { for feed in a b; do cmp here/$feed.tamis $1/$feed.tamis && echo "$feed: as in $1"; done; }
echo "# a patch is missing, cut, longer, another one: the image comes instead"
rm "$patch"; refused out here; holds good; renew
head -c 90 good/${patch#out/} >"$patch"; refused out here; holds good; renew
(cat good/${patch#out/}; echo) >"$patch"; refused out here; holds good; renew
head -c $(wc -c <"$patch") /dev/zero >"$patch"; refused out here; holds good; renew
echo "# and the image too"
rm "$patch" out/a.tamis; refused out here; holds first 2>&1 | grep a:; renew
rm "$patch"; head -c 1000 good/a.tamis >out/a.tamis; refused out here; holds first 2>&1 | grep a:; renew
rm "$patch"; (head -c 1000 good/a.tamis; printf X; tail -c +1002 good/a.tamis) >out/a.tamis
refused out here; holds first 2>&1 | grep a:; renew
rm "$patch" out/a.tamis && mkdir out/a.tamis; refused out here; holds first 2>&1 | grep a:; renew
echo "# the index: none, empty, cut, too long, hostile names and numbers"
rm out/tamis.index; refused out here; renew
: >out/tamis.index; refused out here
head -c 100 good/tamis.index >out/tamis.index; refused out here
(cat good/tamis.index; echo more) >out/tamis.index; refused out here
for name in ../a .a -a 'a/b' 'a b' '' 'a;touch${IFS}x' '$(touch x)'; do
    sed "s|^feed a |feed $name |" good/tamis.index >out/tamis.index; refused out here
done
ls x 2>/dev/null
sed 's/^feed a [0-9]*/feed a 99999999999999999999/' good/tamis.index >out/tamis.index; refused out here
sed '/^patch/d; s/^feed a [0-9]*/feed a 100000000000000000/' good/tamis.index >out/tamis.index; refused out here -f
sed '/^patch/d; s/^feed a [0-9]*/feed a 0/' good/tamis.index >out/tamis.index; refused out here -f
renew
refused out here --limit 10k; holds first 2>&1 | grep a:
refused out here --limit 100; renew
echo "# an older one, and another with the same number"
tamis sync -q out here
cp -r here newest
cp good/tamis.index older; sed 's/^serial .*/serial 5/' older >out/tamis.index; refused out here
sed '/^patch/d' good/tamis.index >out/tamis.index; refused out here
holds newest
sed 's/^serial .*/serial 5/' older >out/tamis.index; refused out here -f; holds newest
refused good here; refused out here
renew
echo "# what we remember is damaged; files of others; no room; no directory"
echo text >here/tamis.sync; refused out here; refused out here -f; renew
rm here/tamis.sync; echo mine >here/a.tamis; refused out here; cat here/a.tamis; refused out here -f; holds good; renew
rm here/tamis.sync; refused out here; holds good; renew
rm here/a.tamis; mkdir here/a.tamis; refused out here; renew
(ulimit -f 0; trap '' XFSZ; tamis sync out here 2>&1; echo "exit $?") | words; holds first; renew
refused nowhere here; refused out lists/a.txt; refused out nowhere/here
refused out here --verify nowhere.pub
ls
