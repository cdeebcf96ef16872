# SPDX-License-Identifier: MIT
# Every verb that reads keys does with several threads what it does with one.
seq 1 200000 >keys.txt
seq 150001 250000 >asked.txt
awk '{print $1 "\t" $1 % 5}' keys.txt >pairs.tsv
for threads in 1 2 5 0; do
    mkdir t$threads
    tamis build -q t$threads/set keys.txt -k counting -T $threads
    tamis build -q t$threads/map pairs.tsv --values --spec bloomier:update=yes,value=4 -T $threads
    tamis add -q t$threads/set asked.txt -T $threads
    tamis remove -q t$threads/set asked.txt -T $threads
    tamis put -q t$threads/map pairs.tsv -T $threads
    tamis check -n t$threads/set asked.txt -T $threads >t$threads/check
    tamis count -n t$threads/set asked.txt -T $threads >t$threads/count
    tamis get -n t$threads/map asked.txt -T $threads >t$threads/get
    tamis add -q --new t$threads/set asked.txt -o t$threads/more -T $threads >t$threads/new
    cat keys.txt asked.txt | tamis uniq -q -T $threads >t$threads/uniq
    tamis semijoin -q asked.txt keys.txt -T $threads >t$threads/semijoin
    diff -r t1 t$threads && echo "the same with $threads"
done
