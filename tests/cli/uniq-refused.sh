# SPDX-License-Identifier: MIT
# What goes wrong, in one line each.
echo ant >some.txt
tamis uniq nowhere.txt; echo $?
tamis uniq . some.txt; echo $?
tamis uniq --exact nowhere.txt some.txt; echo $?
tamis uniq --exact --window 5 some.txt; echo $?
tamis uniq --exact --repeats some.txt; echo $?
tamis uniq --memory 1k some.txt; echo $?
tamis uniq --hash md5 some.txt; echo $?
tamis uniq --exact --hash md5 some.txt; echo $?
tamis uniq --fpr 2 some.txt; echo $?
tamis uniq --windows 5 some.txt; echo $?
tamis uniq some.txt >/dev/full; echo $?
tamis uniq --exact some.txt >/dev/full; echo $?
yes | tamis uniq --repeats -q | head -n 1
seq 1 1000000 | tamis uniq --exact -q | head -n 1
