# SPDX-License-Identifier: MIT
# -d and --field: a key is some fields of its line, in the order as written.
printf '1,ann,red\n2,bob\n3,cid,blue\n4,,green\n' >people.csv
tamis build -q names.tamis -d, --field 2 people.csv
echo "-- asked by other columns"
printf 'x:y:cid\nx:y:bob\nx:y\ncid:y\n' | tamis check names.tamis -d : --field 3
echo "-- a line without the field is in no set"
printf 'x:y:cid\nx:y:joe\nx:y\n' | tamis check -vn names.tamis -d : --field 3
echo "-- an empty field is a key where that is wanted"
printf 'a\t\tb\n' | tamis check -c names.tamis --field 2
tamis build -qf names.tamis -d, --field 2 people.csv --keep-empty
printf 'a\t\tb\n' | tamis check -c names.tamis --field 2
echo "-- several, with the delimiter between them"
printf 'blue,3,cid\n' | tamis build -q pairs.tamis -d, --field 1,3
printf 'cid blue\ncid red\n' | tamis check pairs.tamis -d ' ' --field 2,1
printf 'blue,cid\n' | tamis check pairs.tamis
printf 'cid,blue\n' | tamis check -c pairs.tamis -d, --field 2,1
echo "-- ranges"
printf 'b.c\n' | tamis build -q range.tamis
for list in 2-3 2-3,5- 2- -3 2,3 3-4; do
    printf '%s: ' "$list"
    echo a.b.c.d | tamis check -c range.tamis -d . --field "$list"
done
echo "-- lines that lack a field are told about"
tamis build few.tamis -f -d, --field 3 people.csv
tamis add few.tamis -d, --field 1,3 people.csv
tamis add -q few.tamis -d, --field 3 people.csv
tamis add few.tamis --field 2 people.csv
tamis check few.tamis --field 2 people.csv
tamis check few.tamis -d';' --field 2-3 people.csv
tamis build --strict few.tamis -f -d, --field 3 people.csv
printf '# by ann\n1,ann\n' | tamis check few.tamis -d, --field 2
seq 1 100000 | sed 's/$/,x/; 99999s/,x/\r/' | tamis check -c few.tamis -d, --field 2
echo "-- with NUL, CR LF and values"
printf 'a,b\r\nc,d\r\n' | tamis build -q crlf.tamis -d, --field 2
printf 'b\nd\n' | tamis check -c crlf.tamis
printf 'x\ty\0b\tz\0' | tamis check -0 crlf.tamis --field 1 | tr '\0' '!'
echo
printf 'k1\tx\t7\nlonely\t8\nk2\ty\t9\n' | tamis build map.tamis --values --field 2
printf 'x\ny\nlonely\n' | tamis get map.tamis
echo "-- a wrong value behind a line that was left out"
printf 'a\tb\t1\nonly\t2\na\tc\tmany\n' | tamis build bad.tamis --values --field 2
echo "-- the same with three threads"
seq 1 200000 | awk '{ if ($1 % 7) print $1 ";" $1 * 3 ";end"; else print $1 }' >many.txt
seq 3 6 600000 | tamis build -q odd.tamis
for threads in 1 3; do
    tamis check -T $threads odd.tamis -d ';' --field 2 many.txt >hits.$threads
    tamis check -T $threads -vn odd.tamis -d ';' --field 2,3 many.txt >misses.$threads
    tamis build -q -T $threads made.$threads -d ';' --field 3,2 many.txt
done
cmp hits.1 hits.3 && cmp misses.1 misses.3 && cmp made.1 made.3
test "$(wc -l <hits.1)" -gt 85000 && test "$(wc -l <misses.1)" -gt 190000 && echo same
echo "-- keys that are longer than their lines"
awk -F';' 'NF == 3 { print $2 ";" $1 ";" $2 ";" $1 ";" $3 ";" $1 ";" $2 ";" $1 ";" $2 }' many.txt >long.txt
tamis build -q made.tamis -d ';' --field 2,1,2,1,3,1,2,1,2 many.txt
tamis check -vc made.tamis long.txt
