# SPDX-License-Identifier: MIT
# --window N forgets what is older than N lines, and nothing that is not.
awk 'BEGIN { for (i = 0; i < 40000; i++) print i % 1000 }' >turns.txt
tamis uniq --total --window 1000 turns.txt # each line was the 1000th before
tamis uniq --total --window 600 turns.txt
tamis uniq -q --total --window 1h turns.txt
tamis uniq -q --total --window 1h --capacity 10k turns.txt
tamis uniq -q --total --window 90min turns.txt
printf '%s\n' a b a c b a | tamis uniq -q --window 1M
echo "# repeats"; printf '%s\n' a b a c b a | tamis uniq -q --window 1M --repeats
for window in 0 0s 10x m -3 1e12s .; do
    tamis uniq --window $window turns.txt
    echo $?
done
tamis uniq --window 10M --memory 1M turns.txt; echo $?
