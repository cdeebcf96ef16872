# SPDX-License-Identifier: MIT
# The first occurrence of every line, in the order of the input.
printf '%s\n' bee ant bee cow ant dog >some.txt
printf 'cow\newe' >more.txt
echo "# a file"; tamis uniq some.txt
echo "# several and a pipe"; tamis uniq -q some.txt - more.txt <more.txt
echo "# repeats"; tamis uniq -q --repeats some.txt
echo "# number"; tamis uniq -q --total some.txt more.txt; tamis uniq -q --total --repeats some.txt more.txt
echo "# NUL"; printf 'a\nb\0c\0a\nb\0' | tamis uniq -qz | tr '\0' '!'; echo
echo "# CR"; printf 'a\r\na\nb\r\n' | tamis uniq -q | tr '\r' '!'
echo "# nothing"; tamis uniq </dev/null; echo $?
tamis uniq --repeats more.txt; echo $?
echo "# JSON" >&2; tamis uniq --json some.txt >/dev/null
echo "# many lines, any threads, file and pipe"
awk 'BEGIN { for (i = 0; i < 600000; i++) print (i * 7919) % 400009 }' >many.txt
awk '!seen[$0]++' many.txt >first.txt
tamis uniq -q many.txt | cmp - first.txt
tamis uniq -q -T 3 many.txt | cmp - first.txt
cat many.txt | tamis uniq -T 2 | cmp - first.txt
# A secret is drawn each time: with all of these one run in 250 would lose a line.
{ head -n 3000 first.txt; head -n 3000 first.txt; } | tamis uniq -q --hash sip13 >few.txt
head -n 3000 first.txt | cmp - few.txt
tamis uniq -q --capacity 400k many.txt | cmp - first.txt
