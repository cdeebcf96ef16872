# SPDX-License-Identifier: MIT
# --json: one object per line, whatever bytes it has; build and count have it too.
printf '%s\n' ant bee 'a"b\c' >keys
printf 'caf\303\n' >>keys
printf '\303\251\001\n' >>keys
tamis build -q a.tamis keys -p 1e-6
printf '%s\n' bee cat | tamis build -q b.tamis -p 1e-6
echo "-- lines"
printf 'ant\nfox\nbee\na"b\\c\n\303\251\001\ncaf\303' >log
tamis check --json a.tamis b.tamis log; echo $?
tamis check --json -v a.tamis b.tamis log keys; echo $?
tamis check --json -m 1 -T 3 a.tamis log keys
echo fox | tamis check --json a.tamis; echo $?
tamis check --json -c a.tamis log nowhere keys; echo $?
echo "-- a byte that begins a letter, where the line ends; and lines that end in NUL"
printf 'caf\303\251\n' >longer
printf 'caf\303' >cut
tamis check --json a.tamis longer cut
printf 'bee\000x\ny\000ant' | tamis check --json -0 a.tamis b.tamis
printf 'bee\000x\ny\000ant' | tamis check --json -0v a.tamis
printf 'ant\r\nbee\r\n' | tamis check --json a.tamis
echo "-- keys are as they are written"
printf '%s\n' ANT:x bee:Y | tamis build -q two.tamis --field 2,1 -d: --canon lower -p 1e-6
printf '%s\n' x:q:ant Bee:r:Y none | tamis check --json --field 3,1 -d: two.tamis
printf '%s\n' x:q:ANT Y:r:Bee none | tamis check --json --field 1,3 -d: two.tamis
printf '%s\n' x:q:ANT Y:r:Bee none | tamis check -o --field 1,3 -d: two.tamis
printf '%s\n' x:q:ANT Y:r:no none | tamis check -ov --field 1,3 -d: two.tamis
printf '%s\n' x:q:ANT Y:r:no none | tamis check -vn --field 1,3 -d: two.tamis
echo "-- labels"
echo ant >spam.txt
tamis build -q all.tamis -p 1e-6 --label 'a,b' spam.txt --label other spam.txt
tamis check --json all.tamis spam.txt
tamis check --json all.tamis b.tamis spam.txt
echo "-- build and count"
tamis build --json - keys >/dev/null; echo $?
tamis build --json -q new.tamis keys | sed 's/"payload.*"notes/... "notes/'
tamis build --json --shard 0/2 new.tamis keys -s split:capacity=9 -f; echo $?
echo zebra >good
tamis build --json -q cas.tamis keys --exclude good --kind cascade | grep -o "\"lines.*excluded\": 1"
printf 'a\nb\tq\n' | tamis build --json col.tamis --field 2 | grep -o '"lines": [0-9]*, "skipped": [0-9]*'
cat keys keys | tamis build -q often.tamis --kind counting -p 1e-6
tamis count --json often.tamis log; echo $?
tamis count --json -q often.tamis log; echo $?
echo fox | tamis count --json -T 2 often.tamis; echo $?
