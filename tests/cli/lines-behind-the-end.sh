# SPDX-License-Identifier: MIT
# The last block of a file is shorter than the one before it, whose lines still lie behind its end.
tamis create -q empty.tamis
for n in 23000 30000 31111 60001; do seq 1 $n >numbers && tamis check -v empty.tamis numbers | cmp - numbers && echo $n; done
tamis check -vc empty.tamis numbers numbers
