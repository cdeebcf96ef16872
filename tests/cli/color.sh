# SPDX-License-Identifier: MIT
# Headings, names and the start of complaints are coloured where that is wanted, data never is.
show() { sed "s/$(printf '\033')/ESC/g"; }
echo ant | tamis build -q set.tamis
echo "-- always"
tamis help fold --color=always | show | sed -n 1,10p
tamis -h | show | grep -c ESC
tamis info --color always set.tamis | show | sed -n 1,2p
tamis kinds fuse --color always | show | sed -n 1,4p
tamis info --color=always missing 2>&1 | show
echo bee | tamis add --color=always --spec 2>&1 | show
seq 1 100 | tamis build -q few.tamis -n 2
seq 1 100 | tamis add --color=always few.tamis 2>&1 >/dev/null | show | grep warning
echo "-- lines have the colours of grep; JSON stays as it is"
echo ant | tamis check --color=always -nH set.tamis | show
printf 'x\tant\ty\nant\t \tant\n' >table
tamis check --color=always --field 2 set.tamis table | show
printf 'a:n:t\nx:a:b\n' | tamis build -q fields.tamis --field 1,3 -d:
printf 't:n:a\na:q:t\n' | tamis check --color=always --field 1,3 -d: fields.tamis | show
printf 't:n:a\na:q:t\n' | tamis check --color=always --field 3,1 -d: fields.tamis | show
printf 't:n:a\na:q:t\n' | tamis check --color=always -o --field 3,1 -d: fields.tamis | show
NO_COLOR=1 tamis check --field 2 set.tamis table | show
tamis info --color=always --json set.tamis | show | grep -c ESC
echo "-- auto: not in a pipe or a file; never"
tamis help fold | show | grep -c ESC
tamis help fold --colour=auto | show | grep -c ESC
tamis help fold --color never | show | grep -c ESC
tamis help fold --color sometimes; echo $?
