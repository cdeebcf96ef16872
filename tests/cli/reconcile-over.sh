# SPDX-License-Identifier: MIT
# Two ends over a command: what both print, with a key and without, and forms that do not fit.
seq 1 5000 >here
(seq 4 5000; printf 'x\ny\n') >there
tamis reconcile here --over 'tamis reconcile --stdio there' 2>words; echo $?
sed 's/; .*//' words
tamis reconcile -q here --over 'tamis reconcile --stdio -q there -o answer'; echo $?
cat answer
tamis reconcile -q here --only 2 --over 'tamis reconcile --stdio there'; echo $?
tamis reconcile -q here --only 1 --over 'tamis reconcile --stdio there'; echo $?
tamis reconcile -q here --over 'cat here | tamis reconcile --stdio here'; echo $?
: >empty
tamis reconcile -q there --over 'tamis reconcile --stdio empty' --only 1 | cmp - there
tamis reconcile -q empty --over 'tamis reconcile --stdio there' --only 2 | cmp - there
tamis reconcile -q empty --over 'tamis reconcile --stdio empty'; echo $?
tamis reconcile here --over 'tamis reconcile --stdio there' --json 2>&1 >/dev/null | tr ',' '\n' |
    sed 's/: [0-9.e-]*}*$/: N/'
cat here | tamis reconcile -q - --over 'tamis reconcile --stdio there' --only 1
echo "# fields of lines, others there"
printf 'one,1\ntwo,2\nsix,6\n' >left.csv
printf '2;zwei\n3;drei\n' >right.csv
tamis reconcile -q left.csv -d, --field 2 --over "tamis reconcile --stdio right.csv -d';' --field 1"
echo "# lines from here to there are long, and one is too long to be sent"
awk 'BEGIN { for (i = 0; i < 3; i++) { for (j = 0; j < 100000; j++) printf "%d", i; print "" } }' >long
head -n 1 long >one
tamis reconcile -q one --over 'tamis reconcile --stdio long' --only 2 >out; echo $?
tail -n 2 long | cmp - out
(cat one; head -c 17000000 /dev/zero | tr '\0' z; echo) >huge
tamis reconcile -q one --over 'tamis reconcile --stdio huge' | sed 's/#.*/#(hash)/'
echo "# what does not fit"
tamis reconcile here --canon lower --over 'tamis reconcile --stdio there 2>other'; echo $?
cat other
tamis reconcile here --strict --hex --over 'tamis reconcile --stdio there 2>other' 2>&1 | sed 's/line [0-9]*:.*/line N/'
tamis reconcile here --over 'tamis reconcile there --over cat 2>other'; echo $?
cat other
tamis reconcile here --over cat; echo $?
tamis reconcile here --over 'exit 7'; echo $?
tamis reconcile here --over 'tamis reconcile --stdio missing 2>other'; echo $?
cat other
tamis reconcile here --over 'tamis reconcile --stdio there; exit 9' 2>&1 >out; echo $?
wc -c <out
ls
echo "# who reads no more of the list ends it, without words"
seq 1 200000 >more
{ tamis reconcile -q more --over 'tamis reconcile --stdio empty'; echo $? >code; } | head -n 1
cat code
