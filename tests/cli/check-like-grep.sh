# SPDX-License-Identifier: MIT
# Lines, counts, names, numbers, limits and context are those of `grep -Fxf`, byte for byte, and so
# are exit codes: with one image and with three, on one thread and on four, from files, pipes and
# gzip. No key that is asked about is a false positive (fixed seeds, low rates), so that both agree.
set -u
# 40,000 lines over several blocks; every kind of distance between hits is there.
awk 'BEGIN { x = 7; for (i = 1; i <= 40000; i++) { x = (x * 1103515245 + 12345) % 2147483648
    print (x % 97 < 3 || (i > 20000 && i < 20040)) ? "hit" int(x / 1000) % 50 : "miss" i } }' >big
awk 'BEGIN { for (i = 1; i <= 90000; i++) print i % 29989 ? "miss" i : "hit1" }' >sparse
seq -f hit%g 0 49 >list
seq -f hit%g 0 19 >one
seq -f hit%g 20 34 >two
seq -f hit%g 35 49 >three
printf 'x\nhit1\nhit2\ny\nz\nhit3' >cut-off
printf 'x\n\n\ny\n' >none
printf 'hit1\nhit2\n' >all
: >empty
printf 'a\nhit7\nb\nc\nd\ne\nf\nhit8\nhit9\n' >'a name'
gzip -c big >big.gz
tr '\n' '\0' <big >zeros
spec=classic:fpr=1e-9,seed=1
tamis build -q list.tamis list --spec $spec
tamis build -q one.tamis one --spec $spec
tamis build -q two.tamis two --spec fuse:fpr=1e-9,seed=2
tamis build -q three.tamis three --spec cuckoo:fpr=1e-6,hash=xxh64
compared=0 differ=0

same() { # what both were given: compares what they wrote, and how they ended
    compared=$((compared + 1))
    cmp -s expected actual && [ "$wanted" = "$got" ] && return
    differ=$((differ + 1))
    echo "different ($wanted, $got): $*"
    diff expected actual | head -n 5
}

both() { # options and files
    grep -Fxf list "$@" >expected 2>/dev/null
    wanted=$?
    for sets in list.tamis 'one.tamis two.tamis three.tamis'; do
        for threads in 1 4; do
            tamis check -T $threads $sets "$@" >actual 2>/dev/null
            got=$?
            same "$sets" -T "$threads" "$@"
        done
    done
}

files="big cut-off none missing all empty"
for how in '' -v; do
    for what in '' -c -l -L -q '-m 1' '-m 3' '-m 0' '-c -m 2' '-l -m 1' '-A 1' '-B 1' '-C 2' \
        '-A 0' '-B 3 -A 1' '-m 2 -A 3' '-m 1 -C 2' '-C 1 -B 4' '-m 40 -B 500' '-q -c' \
        '-A 9 -m 5' '-L -m 0'; do
        for where in '' -n -H '-n -H' '--no-filename -n'; do
            both $how $what $where $files
        done
        both $how $what 'a name'
        both $how $what -n cut-off
        both $how $what none
        both $how $what all
        both $how $what empty empty
        both $how $what missing
    done
done
# Without names, and one that is the only file.
both -c big
both -n big
both --no-filename -c big all
both -z -n zeros
both -z -C 1 -n zeros
both -z -m 3 -A 2 -H zeros
# Context over several blocks.
both -n -B 25000 sparse
both -C 3000 sparse big
both -B 99999 -m 2 sparse
# Keys alone. grep prints nothing where we print the keys that are not in the set.
both -o big
both -on big cut-off
# From a pipe, and unpacked.
for how in -n '-C 3' '-c' '-vn -m 4' '-l' '-L' '-HA1'; do
    grep -Fxf list $how <big >expected
    wanted=$?
    tamis check $how list.tamis <big >actual
    got=$?
    same "$how <big"
    tamis check $how list.tamis - <big >actual
    got=$?
    same "$how - <big"
    tamis check $how list.tamis <big.gz >actual
    got=$?
    same "$how <big.gz"
    cat big.gz | tamis check -T 3 $how one.tamis two.tamis three.tamis >actual
    got=$?
    same "$how | big.gz"
done
# Colours, but for how both write them.
for how in '' -n '-nH' -v '-vA1' '-C1 -n' -c -l -o; do
    GREP_COLORS=ne grep --color=always -Fxf list $how cut-off all >plain
    wanted=$?
    sed "s/\[01;31m/[1;31m/g; s/\[m/[0m/g" plain >expected
    tamis check --color always $how list.tamis cut-off all >actual
    got=$?
    same "--color=always $how"
done
echo "$compared compared, $differ differ"
[ "$differ" -eq 0 ]
