# SPDX-License-Identifier: MIT
# With a key: who has it, who has another, who has none; what is changed on the way.
seq 1 3000 >here
(seq 4 3000; printf 'a readable line\ny\n') >there
head -c 32 /dev/urandom >my.key
case $(tamis reconcile here --over cat --key my.key 2>&1) in
*"without libsodium"*) echo "built without libsodium"; exit 77 ;;
esac
head -c 32 /dev/urandom >other.key
od -An -v -tx1 my.key | tr -d ' \n' >hex.key
tamis reconcile -q here --key my.key --over 'tamis reconcile --stdio there --key my.key'; echo $?
echo >>hex.key
tamis reconcile -q here --key hex.key --over 'tamis reconcile --stdio there --key my.key' | wc -l
echo "# another key, and none"
tamis reconcile here --key my.key --over 'tamis reconcile --stdio there --key other.key 2>other'; echo $?
cat other
tamis reconcile here --key my.key --over 'tamis reconcile --stdio there 2>other'; echo $?
cat other
tamis reconcile here --over 'tamis reconcile --stdio there --key my.key 2>other'; echo $?
cat other
echo "# nothing about the set is sent to who has not the key"
tamis reconcile here --key my.key --over 'tamis reconcile --stdio there --key other.key 2>/dev/null | tee said' 2>/dev/null
wc -c <said
echo "# what was recorded cannot be sent again"
tamis reconcile -q here --key my.key --over 'tamis reconcile --stdio there --key my.key | tee said' | wc -l
tamis reconcile here --key my.key --over 'cat said; cat >/dev/null'; echo $?
echo "# nothing in it can be read"
grep -c -a readable said
echo "# a byte is changed, or the end is missing"
for at in 0 8 10 11 12 20 48 60 72 75 80 100 130 200 300; do
    tamis reconcile here --key my.key --timeout 20 --over "tamis reconcile --stdio there --key my.key 2>/dev/null |
        (dd bs=1 count=$at 2>/dev/null; dd bs=1 count=1 2>/dev/null | tr '\000-\377' '\001-\377\000'; cat)" >out 2>words
    echo "$at: $? $(wc -c <out) $(wc -l <words) $(sed 's/.*--over: //; s/[0-9,.]* \(bytes\|B\|KiB\)/N \1/g; s/version [0-9]*,/version N,/; s/; the command.*//' words)"
done
for at in 0 30 800; do
    # A shell waits for both ends of a pipe, so that its end may be seen by patience only.
    tamis reconcile here --key my.key --timeout 1 --over "tamis reconcile --stdio there --key my.key 2>/dev/null | dd bs=1 count=$at 2>/dev/null" >out 2>words
    echo "$at: $? $(wc -c <out) $(wc -l <words) $(sed 's/.*--over: //; s/no answer for.*/cut/; s/the session .*/cut/' words)"
done
echo "# no keys"
tamis reconcile here --over cat --key missing; echo $?
tamis reconcile here --over cat --key here; echo $?
tamis reconcile here --over cat --key .; echo $?
