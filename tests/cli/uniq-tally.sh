# SPDX-License-Identifier: MIT
# -c, -d and -u are those of uniq(1), for lines in any order.
printf '%s\n' bee ant bee cow ant '' bee >some.txt
for options in -c -d -u -cd -cu "-d --total" "-u --total"; do
    echo "-- $options"
    tamis uniq $options some.txt; echo $?
done
echo "-- by a field the first line is printed, and -t is the separator"
printf '%s\n' 1,x 2,y 3,x '4,' | tamis uniq -qc -t, -F 2
printf 'a\nb\0c\0a\nb\0' | tamis uniq -qcz | tr '\0' '!'; echo
tamis uniq -d nothing.txt some.txt; echo $?
tamis uniq -u </dev/null; echo $?
echo "-- many lines, as sort and uniq count them"
awk 'BEGIN { for (i = 0; i < 300000; i++) print (i * i) % 40009 }' >many.txt
sort many.txt | uniq -c | sort >truth.txt
tamis uniq -c many.txt | sort | cmp - truth.txt
sort many.txt | uniq -d >sorted
tamis uniq -qd -T 2 many.txt | sort | cmp - sorted
awk '!seen[$0]++' many.txt >first.txt
tamis uniq -qc many.txt | sed 's/^ *[0-9]* //' | cmp - first.txt
tamis uniq --json -u many.txt >/dev/null
echo "-- refused"
for options in -du "-c --window 5" "-d --fpr 1%" "-u --capacity 9" "-c --repeats" -i -D "-f 1"; do
    tamis uniq $options some.txt; echo $?
done
seq 100000 | tamis uniq -c --memory 64KiB; echo $?
seq 100000 | sed 's/$/ x/' | tamis uniq -d -t ' ' -F 1 --memory 64KiB; echo $?
