# SPDX-License-Identifier: MIT
# A directory of lists becomes images, patches and an index; what did not change is not written.
quietly() { "$@" 2>&1 | sed 's/serial [0-9]*/serial N/'; }
mkdir lists
seq 1 3000 >lists/spam.txt
seq 1 500 | gzip >lists/bots.txt.gz
seq 1 40 >lists/c+2.csv
quietly tamis publish lists out
ls out
sed 's/^\(serial\) .*/\1 N/; s/[0-9a-f]\{16,\}/HEX/g' out/tamis.index | sed 's/ -$/ HEX/'
echo "# nothing changed"
ls -i out >inodes
quietly tamis publish lists out
ls -i out | cmp - inodes && echo "no file was written"
gzip -d lists/bots.txt.gz
sort -R lists/spam.txt 2>/dev/null >shuffled || sort -r lists/spam.txt >shuffled
mv shuffled lists/spam.txt
quietly tamis publish lists out -q
ls -i out | cmp - inodes && echo "nor for another order, or without compression"
echo "# some keys more and less: the shape stays"
seq 20 3100 >lists/spam.txt
serial=$(sed -n 's/serial //p' out/tamis.index)
cp out/spam.tamis before.tamis
quietly tamis publish lists out
[ "$(sed -n 's/serial //p' out/tamis.index)" -gt "$serial" ] && echo "a higher serial"
tamis info out/spam.tamis | grep -e capacity -e items | sed 's/,* about.*//'
ls out | sed 's/[0-9a-f]\{16\}/HEX/g'
tamis apply -q before.tamis out/spam.*.patch -o - | cmp - out/spam.tamis && echo "the patch makes it"
tamis check -c out/spam.tamis lists/spam.txt
echo "# many more: another shape, no patch"
seq 1 9000 >lists/spam.txt
quietly tamis publish lists out
ls out | sed 's/[0-9a-f]\{16\}/HEX/g'
echo "# --keep"
for i in 1 2 3 4; do
    echo "more $i" >>lists/spam.txt
    tamis publish -q lists out --keep 2
    tamis info --json out 2>&1 | grep -o '"is_chain": [a-z]*, "steps": [0-9]*'
done
quietly tamis publish lists out --keep 0
tamis info out 2>&1
echo "# a list that is gone, and one that is back"
mv lists/bots.txt kept
quietly tamis publish lists out
grep -c '^feed' out/tamis.index; ls out/bots.tamis
mv kept lists/bots.txt
quietly tamis publish lists out
rm lists/bots.txt
quietly tamis publish lists out --delete
ls out
echo "# built once, keys in one form, a capacity of its own"
quietly tamis publish lists fuse -k fuse --canon lower; echo extra >>lists/spam.txt
quietly tamis publish lists fuse -k fuse --canon lower
echo EXTRA | tamis check fuse/spam.tamis
quietly tamis publish lists fixed --spec blocked:capacity=20k
tamis info fixed/c+2.tamis | grep capacity
tamis publish -q lists labels -k labels; tamis label labels/c+2.tamis
echo "# --json"
echo more >>lists/c+2.csv
tamis publish lists out --json | sed 's/"serial": [0-9]*/"serial": N/'
tamis publish lists out --json -q | sed 's/"serial": [0-9]*/"serial": N/'
echo "# what was skipped, and of which list"
printf '%s\n' '# a comment' Evil.example >lists/names.txt
quietly tamis publish lists skips --canon domain --comment '#'
echo "# what was promised stays, unless it is forced"
mkdir rated && seq 1 500 >rated/a.txt
tamis publish -q rated rate -p 1e-6
echo 501 >>rated/a.txt
tamis publish -q rated rate; echo $?
tamis publish -q rated rate -p 1e-6 -k split; echo $?
tamis publish -q rated rate -p 1e-6; echo $?
tamis publish -q rated rate --force; echo $?
tamis info rate/a.tamis | grep 'target fpr'
