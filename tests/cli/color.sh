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
echo "-- lines and JSON stay as they are"
echo ant | tamis check --color=always -nH set.tamis
tamis info --color=always --json set.tamis | show | grep -c ESC
echo "-- auto: not in a pipe or a file; never"
tamis help fold | show | grep -c ESC
tamis help fold --colour=auto | show | grep -c ESC
tamis help fold --color never | show | grep -c ESC
tamis help fold --color sometimes; echo $?
