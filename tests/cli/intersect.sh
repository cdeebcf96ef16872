# SPDX-License-Identifier: MIT
# The intersection has every key that both have.
seq 1 100 >one
seq 50 150 >two
seq 50 100 >both
for set in one two; do tamis build -q $set.tamis $set -n 500 -p 1e-9; done
tamis intersect -q one.tamis two.tamis -o both.tamis
tamis check -c both.tamis both
tamis check -cv both.tamis both
seq 1 49 | tamis check -c both.tamis
