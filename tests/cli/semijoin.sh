# SPDX-License-Identifier: MIT
# Lines of one file whose key is in another, in the order of the first.
printf '%s\n' 1,ant 2,bee 3,cow 4,ant 5 6,dog >left.csv
printf '%s\n' ant dog ant >right.txt
echo "# by a field"; tamis semijoin -d, --field 2 --right-field 1 left.csv right.txt
echo "# not there"; tamis semijoin --anti -d, --field 2 --right-field 1 left.csv right.txt
echo "# other fields"; printf 'x,ant\ny,dog\n' >both.csv
tamis semijoin -q -d, --field 2 --right-field 2 left.csv both.csv
tamis semijoin -q -d, --right-field 2 right.txt both.csv
echo "# whole lines, from pipes"
cat right.txt | tamis semijoin -q - right.txt
cat right.txt | tamis semijoin -q --exact right.txt -
echo "# number"; tamis semijoin -qc -d, --field 2 --right-field 1 left.csv right.txt
tamis semijoin -qc --anti --exact -d, --field 2 --right-field 1 left.csv right.txt
echo "# nothing"
tamis semijoin -q left.csv /dev/null; echo $?
tamis semijoin -q --anti left.csv /dev/null | cmp - left.csv; echo $?
tamis semijoin -q /dev/null right.txt; echo $?
tamis semijoin -q --exact /dev/null right.txt; echo $?
echo "# JSON" >&2
tamis semijoin --json -d, --field 2 --right-field 1 left.csv right.txt >/dev/null
tamis semijoin --json --exact --anti -d, --field 2 --right-field 1 left.csv right.txt >/dev/null
