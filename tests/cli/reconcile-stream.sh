# SPDX-License-Identifier: MIT
# Sets by a stream in a file: told on one host, asked on the other, and the hashes turned to lines.
seq 1 20000 >here
(seq 4 20000; printf 'x\ny\n') >there
tamis reconcile --write-stream here --symbols 200 -o here.tell 2>words; echo $?
sed 's/, [^,]*$//' words
tamis reconcile -q here.tell there >list; echo $?
sed 's/#.*/#(hash)/' list
tamis reconcile --hashes list here.tell here; echo $?
tamis reconcile -q --hashes list here.tell there; echo $?
tamis reconcile -q here.tell there --only 1 | tamis reconcile -q --hashes - here.tell here --only 2
tamis reconcile -q --read-stream here.tell here; echo $?
tamis reconcile -q --write-stream here | tamis reconcile -q --read-stream - there --only 2; echo $?
tamis reconcile --write-stream here --seed 5 --symbols 100 -q | tamis reconcile --read-stream - there --json 2>&1 >/dev/null
tamis reconcile --write-stream here --seed 5 --symbols 100 -qo one.tell
tamis reconcile --write-stream here --seed 6 --symbols 100 -qo two.tell
cmp -s one.tell two.tell; echo "other seeds: $?"
echo "# too small"
tamis reconcile -q --write-stream here --symbols 4 -o small.tell
tamis reconcile small.tell there; echo $?
(cat there; seq 50001 50010) >far
tamis reconcile -q --write-stream here --symbols 4 --seed 1 -f -o small.tell
tamis reconcile small.tell far --partial 2>&1 | sed 's/([0-9]* of/(some of/; s/^\([<>]\).*/\1/; s/; 4 symbols.*//' | uniq; echo $?
tamis reconcile -q small.tell far --partial >/dev/null; echo $?
echo "# refused"
tamis reconcile here.tell there --canon lower; echo $?
tamis reconcile --hashes list here.tell here --canon lower; echo $?
tamis reconcile --write-stream here -o here.tell; echo $?
tamis reconcile --read-stream here there; echo $?
printf '<#0123456789abcdef\nnonsense\n' >bad
tamis reconcile --hashes bad here.tell here; echo $?
printf '<#0123456789abcde\n' >bad
tamis reconcile --hashes bad here.tell here; echo $?
tamis reconcile --hashes list here there; echo $?
size=$(wc -c <one.tell)
tamis reconcile -q one.tell there >right
# Cut or changed anywhere, it is refused, or the list is right all the same.
try() { # where, what happened there
    tamis reconcile --read-stream bad.tell there >out 2>words
    code=$?
    case $code in
    1) cmp out right ;;
    2) [ ! -s out ] || echo "$2 at $1: printed" ;;
    *) echo "$2 at $1: exit $code" ;;
    esac
    [ "$(wc -l <words)" = 1 ] || cat words
}
for at in 0 4 8 20 39 40 45 60 $((size / 2)) $((size - 1)); do
    head -c "$at" one.tell >bad.tell
    try "$at" cut
    [ "$code" = 2 ] || [ "$at" -gt 700 ] || echo "cut at $at: taken"
done
for at in 0 7 8 9 10 15 16 23 24 39 40 41 44 50 60 70 80 90 100 150 200 400 $((size - 1)); do
    (head -c "$at" one.tell; printf '\252'; tail -c +$((at + 2)) one.tell) >bad.tell
    try "$at" changed
    [ "$code" = 2 ] || [ "$at" -gt 100 ] || echo "changed at $at: taken"
done
ls
