# SPDX-License-Identifier: MIT
# Whole lines of a table that are all misses: a forgotten --field looks like a result, so it is told.
seq 1 100 | tamis build -q n.tamis
printf '1,a\n2,b\n3,c\n' >table.csv
tamis check n.tamis table.csv; echo $?
tamis check -c n.tamis table.csv
tamis check -vc n.tamis table.csv
tr , '\t' <table.csv | tamis check n.tamis
tr , ';' <table.csv | tamis check n.tamis
tr , '|' <table.csv | tamis check n.tamis
echo "-- not when there is a hit, a field, another reason, or no table"
{ cat table.csv && echo 7; } | tamis check n.tamis
tamis check -q n.tamis table.csv; echo $?
tamis check --csv --field 1 n.tamis table.csv
tamis check --csv --field 2 n.tamis table.csv; echo $?
printf 'a,b\nc\nd,e\n' | tamis check n.tamis; echo $?
printf 'a,b\nc,d\n' | tamis check n.tamis; echo $?
tamis check n.tamis </dev/null; echo $?
