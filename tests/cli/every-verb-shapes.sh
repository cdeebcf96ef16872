# SPDX-License-Identifier: MIT
# The same keys as lines, as CSV and as JSON, compressed or not, on one thread or three: every verb
# that reads keys must do the same with them.
seq 1 3000 | awk '{
    key = $1 % 5 == 0 ? "a, \"b\" " $1 : $1 % 7 == 0 ? "it'"'"'s " $1 : "key" $1
    print key >"all.txt"
    quoted = key; gsub(/"/, "\"\"", quoted)
    if (NR == 1) print "n,the key,more" >"all.csv"
    print NR ",\"" quoted "\",\"two\nlines\"" >"all.csv"
    escaped = key; gsub(/"/, "\\\"", escaped)
    print "{\"n\": " NR ", \"in\": {\"the key\": \"" escaped "\"}}" >"all.jsonl"
}'
head -n 1000 all.txt >some.txt
head -n 2001 all.csv >some.csv
head -n 1000 all.jsonl >some.jsonl
gzip -k all.csv some.csv
shape() { # shape: sets options and the ends of files
    case $1 in
    csv) options="--csv --field" field="the key" end=csv ;;
    csv.gz) options="--csv --field" field="the key" end=csv.gz ;;
    jsonl) options=--jsonl field="in.the key" end=jsonl ;;
    esac
}
t() { tamis "$@" $options "$field"; } # a verb with the options of the shape
sum() { cksum | cut -d ' ' -f 1; }
same() { # what it is, as lines, in this shape
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "DIFFERENT $1: $2, $3"; fi
}
tamis build -q lines.tamis all.txt && tamis build -q part.tamis some.txt
tamis build -q lines.counting some.txt all.txt -k counting -n 5000
tamis create -q lines.added -n 5000 && tamis add -q lines.added all.txt
tamis build -q lines.labels --label a all.txt --label b some.txt
cp lines.counting lines.removed && tamis remove -q lines.removed some.txt
tamis sketch -q lines.sketch all.txt
mkdir lists && cp all.txt lists && tamis publish -q lists lines.published
for shape in csv csv.gz jsonl; do
    shape $shape
    echo "# $shape"
    for threads in 1 3; do
        t build -qf x.tamis all.$end -T $threads && same build "$(sum <lines.tamis)" "$(sum <x.tamis)"
        same check "$(tamis check -c part.tamis all.txt)" "$(t check -c --no-filename part.tamis all.$end -T $threads)"
        same "check -o" "$(tamis check -o part.tamis all.txt | sum)" "$(t check -o part.tamis all.$end -T $threads | sum)"
        same "check -v" "$(tamis check -vo part.tamis all.txt | sum)" "$(t check -vo part.tamis all.$end -T $threads | sum)"
    done
    tamis create -qf x.tamis -n 5000 && t add -q x.tamis all.$end && same add "$(sum <lines.added)" "$(sum <x.tamis)"
    cp lines.counting x.tamis && t remove -q x.tamis some.$end && same remove "$(sum <lines.removed)" "$(sum <x.tamis)"
    same count "$(tamis count --json lines.counting some.txt | sed 's/.*"key": //' | sum)" "$(t count --json lines.counting some.$end | sed 's/.*"key": //' | sum)"
    t build -qf x.tamis -k labels --label a all.$end --label b some.$end && same label "$(sum <lines.labels)" "$(sum <x.tamis)"
    t sketch -qf x.sketch all.$end && same sketch "$(sum <lines.sketch)" "$(sum <x.sketch)"
    same uniq "$(cat all.txt some.txt | tamis uniq -q --total)" "$(t uniq -q --total all.$end some.$end)"
    same "uniq --exact" 3000 "$(t uniq -q --exact --total all.$end some.$end)"
    same semijoin "$(tamis semijoin -qc --exact all.txt some.txt)" "$(t semijoin -qc --exact all.$end some.$end)"
    same similar "$(tamis similar all.txt some.txt | tail -n 1 | sed 's/.*: //')" "$(t similar all.$end some.$end | tail -n 1 | sed 's/.*: //')"
    same reconcile "$(tamis reconcile -q all.txt some.txt | wc -l)" "$(t reconcile -q all.$end some.$end | grep -c '^[<>]')"
    same doctor "$(tamis doctor lines.tamis --members all.txt | grep -c 'all 3,000 are found')" "$(t doctor lines.tamis --members all.$end | grep -c 'all 3,000 are found')"
    same admit "$(cat all.txt some.txt | tamis admit -q | wc -l)" "$(t admit -q all.$end some.$end | grep -c -e '^[0-9]*,"' -e '^{')"
    rm -rf lists x.published && mkdir lists && cp all.$end lists/all.txt
    t publish -q lists x.published && same publish "$(sum <lines.published/all.tamis)" "$(sum <x.published/all.tamis)"
done
