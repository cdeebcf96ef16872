# SPDX-License-Identifier: MIT
# What a wish needs leaves kinds out, by name and reason; the smallest of the others comes first.
tamis plan --capacity 1M --fpr 1% --deletes
echo "exit $?"
echo "-- the last million"
tamis plan --window 1M --fpr 1% | head -n 3
echo "-- which one has the most room"
tamis plan --size 64KiB --fpr 1% | awk 'NR == 1 || NR == 2 || /^roomiest/'
tamis plan --capacity 50k --size 64KiB | awk 'NR == 1 || NR == 2 || /^sharpest/'
echo "-- from a file, and against attackers"
seq 1 1000 >keys.txt && seq 1 1000 >>keys.txt
tamis plan --sample keys.txt --later --unions --untrusted | tail -n 1
tamis plan --sample - --json <keys.txt | grep -o '"capacity": 1000,' | sort -u
echo "-- nothing can"
tamis plan --capacity 10 --deletes --window 10
echo "exit $?"
tamis plan --window soon
echo "exit $?"
tamis plan --sample missing.txt
echo "exit $?"
tamis plan --capacity 10 --grows --values
echo "exit $?"
