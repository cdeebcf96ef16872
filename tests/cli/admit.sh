# SPDX-License-Identifier: MIT
# What is asked for again, by a memory that may last.
try() { # what, words
    echo "# $1"
    shift
    tamis "$@"
    echo "exit $?"
}
printf 'a\nb\na\nc\nb\na\n' >some.txt
try "the second time, and later ones" admit some.txt
try "the first" admit -v -q some.txt
try "how many" admit -c -q some.txt
tamis admit -q <some.txt
try "json" admit --json -c some.txt 2>&1 | sed 's/"fpr_now": [^,]*,/"fpr_now": RATE,/'
try "several files" admit -q some.txt some.txt
printf 'GET /a\nPUT /b\nPUT /a\n' | tamis admit -q --field 2 -d ' '
printf 'Ab\naB\n' | tamis admit -q --canon lower
printf 'a\0a\0' | tamis admit -q -0 | tr '\0' '|'
echo
try "nothing twice" admit -q /dev/null
try "a kind of one's own, and a keyed hash" admit -q --spec classic:capacity=100,hash=sip13 some.txt

echo "# a memory of its own: the second run knows the first"
tamis admit -q --image seen -n 1000 -p 1e-6 some.txt >/dev/null
printf 'a\nd\n' | tamis admit -q --image seen
printf 'd\ne\n' | tamis admit -q --image seen
ls

echo "# known while as many others as the capacity came since, not after twice as many"
(echo first; seq 100; echo first) | tamis admit -q -n 100 -p 1e-9
(echo first; seq 201; echo first) | tamis admit -q -n 100 -p 1e-9
echo "exit $?"

echo "# as awk prints them"
awk 'BEGIN { for (i = 0; i < 200000; i++) print (i * 7919) % 60013 }' >many.txt
awk 'seen[$0]++' many.txt >again.txt
tamis admit -q -p 1e-9 many.txt | cmp - again.txt
tamis admit -q -p 1e-9 -T 3 many.txt | cmp - again.txt

echo "# refused"
tamis admit -n 0 some.txt; echo $?
tamis admit --image seen -n 5 some.txt; echo $?
tamis admit --image some.txt some.txt; echo $?
tamis admit --image - some.txt; echo $?
tamis admit --image nowhere/seen some.txt; echo $?
tamis admit --spec window:capacity=5 some.txt; echo $?
tamis admit --spec capacity=5 -n 5 some.txt; echo $?
tamis admit nowhere.txt some.txt -q; echo $?
head -c 100 seen >cut
tamis admit --image cut some.txt; echo $?
tamis admit --image seen some.txt >/dev/full; echo $?
tamis check seen some.txt; echo $?
