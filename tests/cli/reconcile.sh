# SPDX-License-Identifier: MIT
# What only one of two files has: marks, sides, order, duplicates, forms of keys, exits as diff's.
printf '%s\n' pear apple fig apple plum >a
printf '%s\n' fig kiwi pear date kiwi >b
tamis reconcile -q a b; echo $?
echo "# one side, as it is"
tamis reconcile -q --only 1 a b
tamis reconcile -q --only 2 a b
echo "# the same set in another order, and twice"
(sort -r a; cat a) >same
tamis reconcile -q a same; echo $?
echo "# from a pipe, which is read once"
cat b | tamis reconcile -q a -; echo $?
cat a | tamis reconcile -q - b --only 1
echo "# nothing on one side, and on both"
: >empty
tamis reconcile -q a empty; echo $?
tamis reconcile -q empty a --only 2; echo $?
tamis reconcile empty empty; echo $?
echo "# keys that are fields: the first line of each is printed"
printf '%s\n' 'x,1' 'y,2' 'z,3' 'w,2' >left.csv
printf '%s\n' 'q,3' 'r,1' 's,7' >right.csv
tamis reconcile -q -d, --field 2 left.csv right.csv
tamis reconcile -q --canon lower a b | wc -l
printf 'PEAR\nApple\nfig\nplum\n' >large
tamis reconcile -q --canon lower a large; echo $?
printf 'a\0b\nb\0' >nul.a
printf 'b\nb\0c\0' >nul.b
tamis reconcile -q -0 nul.a nul.b | tr '\0\n' '.|'; echo
if gzip --version >/dev/null 2>&1; then gzip <a >a.gz; else cp a a.gz; fi
tamis reconcile -q a.gz a; echo $?
echo "# into a file, whole or not at all"
tamis reconcile -q a b -o list; echo $?
tamis reconcile -q a b | cmp - list
tamis reconcile -q a b -o list; echo $?
tamis reconcile -q a missing -f -o list; echo $?
tamis reconcile -q a b | cmp - list
ls
echo "# many, a few of them different"
seq 1 100000 >many
seq 3 100004 | sort >others
tamis reconcile many others >out 2>words; echo $?
cat out
sed 's/; .*//' words
tamis reconcile -q -T 4 many others | cmp - out
tamis reconcile --seed 7 many others --json 2>&1 >/dev/null
tamis reconcile -q --seed 7 others many | sort >out
tamis reconcile -q --seed 8 others many | sort | cmp - out
echo "# nearly all of them"
seq 2 2 20000 >even
seq 1 3 20000 >third
tamis reconcile -q even third >out; echo $?
sort even >even.sorted
sort third >third.sorted
(comm -23 even.sorted third.sorted | sed 's/^/< /'; comm -13 even.sorted third.sorted | sed 's/^/> /') |
    sort >wanted
sort out | cmp - wanted
