# SPDX-License-Identifier: MIT
# Lines of words as sparse vectors, in the form of svmlight.
printf 'the cat and the dog\n\nspam  buy\tbuy now\n' >texts
echo "-- counts"; tamis features --dimensions 100 texts
echo "-- signs"; tamis features --dimensions 100 --signed texts
echo "-- one place"; tamis features --dimensions 1 texts
echo "-- the usual places, from standard input"; tamis features <texts
echo "-- labels"; printf '+1 the cat\n-1 the dog\n\n-1\n' | tamis features --labels --dimensions 100
echo "-- another seed"; tamis features --dimensions 100 --seed 1 texts
echo "-- fields and case"; printf '1\tTHE Cat\n' | tamis features --dimensions 100 --field 2 --canon lower
echo "-- places ascend, and counts add up to the words"
seq 1 5000 | tr '\n' ' ' >many && echo >>many
tamis features --dimensions 300 many | tr ' ' '\n' | tail -n +2 >cells
cut -d: -f1 cells | sort -nuc && wc -l <cells && awk -F: '{n += $2} END {print n}' cells
echo "-- the same with threads"
seq 1 20000 | paste -d' ' - - - - >lines
tamis features lines >one && tamis features -T 3 lines | cmp - one && wc -l <one
for bad in "--dimensions 0" "--dimensions 5G" "missing"; do
    tamis features $bad <texts
    echo "$bad: exit $?"
done
