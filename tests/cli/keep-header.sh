# SPDX-License-Identifier: MIT
# The header of the first file stays above the lines that are printed.
printf 'id,"a\nb"\r\n1,x\r\n2,y\r\n1,z\r\n' >a.csv
printf 'b,id\nx,2\ny,3\n' >b.csv
echo "# uniq"
tamis uniq -q --csv --field id a.csv | cat -A
tamis uniq -q --csv --field id --keep-header a.csv b.csv | cat -A
for how in --exact --repeats -d -u "-T 2"; do echo "# $how"; tamis uniq -q $how --csv --field 1 --keep-header a.csv; done
echo "# after an empty file, and from a pipe"
gzip -c b.csv | tamis uniq -q --csv --field id --keep-header /dev/null -
echo "# semijoin"
tamis semijoin -q --csv --field id --keep-header b.csv a.csv
tamis semijoin -q --anti --exact --csv --field 2 --right-field 1 --keep-header b.csv a.csv
cat a.csv | tamis semijoin -q --exact --csv --field id --keep-header b.csv -
echo "# check"
printf '%s\n' 2 3 | tamis build -q set.tamis
tamis check --csv --field id --keep-header set.tamis b.csv
tamis check -v --csv --field id --keep-header set.tamis b.csv; echo $?
tamis check --which -T 2 --csv --field id --keep-header set.tamis b.csv a.csv
echo "# not with"
tamis uniq --csv --field nosuch --keep-header -q a.csv; echo $?
for how in --json -c -o -l -L -q; do tamis check $how --csv --field id --keep-header set.tamis b.csv; echo $?; done
tamis uniq -c --csv --field id --keep-header b.csv; echo $?
tamis uniq --total --csv --field id --keep-header b.csv; echo $?
tamis semijoin -c --csv --field id --keep-header a.csv b.csv; echo $?
tamis uniq --jsonl id --keep-header b.csv; echo $?
