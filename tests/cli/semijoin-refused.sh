# SPDX-License-Identifier: MIT
# What goes wrong, in one line each.
echo ant >some.txt
tamis semijoin some.txt; echo $?
tamis semijoin some.txt some.txt some.txt; echo $?
tamis semijoin nowhere.txt some.txt; echo $?
tamis semijoin some.txt nowhere.txt; echo $?
tamis semijoin some.txt .; echo $?
tamis semijoin --exact . some.txt; echo $?
tamis semijoin - -; echo $?
tamis semijoin --field 0 some.txt some.txt; echo $?
tamis semijoin --right-field x some.txt some.txt; echo $?
tamis semijoin -d, some.txt some.txt; echo $?
tamis semijoin --inner some.txt some.txt; echo $?
tamis semijoin --fpr 1% some.txt some.txt >/dev/full; echo $?
tamis semijoin --exact some.txt some.txt >/dev/full; echo $?
cat some.txt | tamis semijoin --exact --temp-dir nowhere some.txt -; echo $?
yes ant | tamis semijoin -q - some.txt | head -n 1
