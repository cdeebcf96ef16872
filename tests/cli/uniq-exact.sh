# SPDX-License-Identifier: MIT
# --exact prints what awk '!seen[$0]++' prints, in whatever memory, also of keys with the same hash.
awk 'BEGIN { srand(5); for (i = 0; i < 60000; i++) {
    n = int(rand() * rand() * 40000); printf "%s%d\n", substr("xxxxxxxxxxxxxxxxxxxx", n % 20), n } }' >some.txt
awk '!seen[$0]++' some.txt >first.txt
tamis uniq --exact some.txt | cmp - first.txt
for memory in 64KiB 200KiB 1MiB 2MiB; do
    tamis uniq --exact -q --memory $memory some.txt | cmp - first.txt
    cat some.txt | tamis uniq --exact -q -T 3 --memory $memory | cmp - first.txt
done
tamis uniq --exact --json --memory 100k some.txt 2>report >/dev/null
grep -o '"rounds": [0-9]*' report | awk '$2 > 2 { print "several rounds" }'
grep -o '"is_exact.*"filter' report
echo "# two keys, one hash"
printf '0bdwiiiq\n\053\237\343\010\257\126\046\n0bdwiiiq\n' >same_hash.bin
tamis uniq -q --total same_hash.bin
tamis uniq -q --total --hash sip13 same_hash.bin
tamis uniq -q --total --exact same_hash.bin
tamis uniq -q --exact same_hash.bin >both.bin; head -n 2 same_hash.bin | cmp - both.bin
echo "# a line larger than all of the memory, twice"
for i in 1 2; do head -c 3000000 /dev/zero | tr '\0' x; echo; echo $i; done >long.txt
tamis uniq -q --exact --memory 64KiB long.txt | cksum
awk '!seen[$0]++' long.txt | cksum
echo "# nowhere to put lines"
tamis uniq --exact --memory 64KiB --temp-dir nowhere some.txt >/dev/null; echo $?
