# SPDX-License-Identifier: MIT
# --exact: what awk says, in any memory, from files and pipes; without it, what is wrong is told.
awk 'BEGIN { for (i = 0; i < 90000; i++) printf "%d\tline %d\n", (i * 7919) % 100003, i }' >left.tsv
awk 'BEGIN { for (i = 0; i < 30000; i++) print (i * 104729) % 100003 }' >right.txt
awk -F'\t' 'NR == FNR { s[$1]; next } $1 in s' right.txt left.tsv >semi.txt
awk -F'\t' 'NR == FNR { s[$1]; next } !($1 in s)' right.txt left.tsv >anti.txt
wc -l semi.txt anti.txt | sed 's/^ *//'
for options in "" "--memory 1MiB" "-T 3" "--fpr 0.9"; do
    tamis semijoin -q --exact $options --field 1 left.tsv right.txt | cmp - semi.txt
    tamis semijoin -q --exact $options --anti --field 1 left.tsv right.txt | cmp - anti.txt
    cat right.txt | tamis semijoin -q --exact $options --anti --field 1 left.tsv - | cmp - anti.txt
    cat left.tsv | tamis semijoin -q --exact $options --field 1 - right.txt | cmp - semi.txt
done
echo "# two keys, one hash"
printf '0bdwiiiq\n' >one.txt
printf '\053\237\343\010\257\126\046\n' >other.bin
tamis semijoin -qc --fpr 1% one.txt other.bin
tamis semijoin -qc --fpr 1% --exact one.txt other.bin
echo "# a small LEFT needs no filter"
head -n 3 left.tsv >few.tsv
tamis semijoin -c --field 1 few.tsv right.txt
echo "# wrong lines are told" >&2
tamis semijoin -c --field 1 left.tsv right.txt
tamis semijoin -c --fpr 1% --field 1 left.tsv right.txt
tamis semijoin -c --fpr 1% --anti --field 1 left.tsv right.txt
