# SPDX-License-Identifier: MIT
# The most frequent lines, without an image.
try() { # what, words
    echo "# $1"
    shift
    tamis "$@"
    echo "exit $?"
}
printf 'b\na\nc\na\nb\na\n' >few.txt
try "all of them; equal counts by their bytes" count --top 10 few.txt
try "some" count --top 1 -q few.txt
tamis count --top 2 -q <few.txt
try "standard input by name" count --top 1 -q - <few.txt
try "several files" count --top 1 -q few.txt few.txt few.txt
try "json" count --top 2 --json few.txt
printf 'GET /a x\nGET /b y\nPUT /a z\n' | tamis count --top 3 -q --field 2 -d ' '
printf 'a\0b\nc\0a\0' | tamis count --top 3 -q -0 | tr '\0\n' '\n|'
printf 'Ab\naB\nc\n' | tamis count --top 3 -q --canon lower
printf '0a\n0A\n0b\n' | tamis count --top 3 -q --hex
printf 'x\ny\nx\n' | tamis count --top 1 -q --hash sip13
try "nothing" count --top 3 /dev/null

echo "# as sort and uniq count them"
awk 'BEGIN { for (i = 1; i <= 3000; i++) for (j = 0; j < 3000 / i; j++) print "line", (i * 7919) % 3001 }' >many.txt
sort many.txt | uniq -c | sort -k1,1rn -k2 | awk '{ print $1 "\t0\t" $2, $3 }' | head -n 50 >truth.txt
tamis count --top 50 many.txt >top.txt
cmp truth.txt top.txt
tamis count --top 50 -T 3 -q many.txt | cmp - truth.txt

echo "# a sketch that is far too small: never too low, and the bar is true"
awk 'BEGIN { for (i = 1; i <= 60000; i++) print i % 3 ? (i * 7919) % 20011 : "often" i % 4 }' >flat.txt
sort flat.txt | uniq -c | awk '{ print $1 "\t" $2 }' >flat.counts
tamis count --top 1500 --error 1% --error-prob 30% flat.txt >flat.top
awk -F '\t' 'NR == FNR { true[$2] = $1; next }
    { bad += $1 < true[$3] || $1 - $2 > true[$3]; over += $1 > true[$3] }
    END { print bad + 0, "wrong bars,", (over > 0 ? "some" : "no"), "counts too high" }' flat.counts flat.top

echo "# a line that had to leave, and comes back, was counted all the time"
awk 'BEGIN { for (i = 0; i < 5; i++) print "x"
    for (i = 0; i < 1010; i++) for (j = 0; j < 7; j++) print i
    for (i = 0; i < 10; i++) print "x" }' | tamis count --top 1

echo "# a long line is cut"
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "x"; print "" }' >long.txt
tamis count --top 1 long.txt | wc -c

echo "# refused"
tamis count; echo $?
tamis count --top 0 few.txt; echo $?
tamis count --top 2M few.txt; echo $?
tamis count --top many few.txt; echo $?
tamis count --top 1 -n few.txt; echo $?
tamis count --error 1% few.txt; echo $?
tamis count --top 1 --error 0 few.txt; echo $?
tamis count --top 1 --hash md5 few.txt; echo $?
tamis count --top 1 nowhere.txt few.txt; echo $?
tamis count --top 1 few.txt >/dev/full; echo $?

echo "# a sketch as an image tells its error"
tamis build -q sketch many.txt --spec countmin:error=1%
echo 'line 1917' | tamis count sketch
