# SPDX-License-Identifier: MIT
# Every kind is in the plan, with what it costs.
tamis plan --capacity 1M --fpr 1% >list
head -n 1 list
for kind in classic blocked split; do grep -c "^$kind  *[a-z]*  *[0-9.]* .iB  " list; done
tamis plan capacity=1M,fpr=1% | cmp - list
echo "-- the default, the smallest and the fastest, and why"
sed -n '/^default/,$p' list
grep -E '^[a-z]+ +[dsf]+ ' list
awk 'length > 80' list
tamis plan --size 64KiB --fpr 1% --later | grep -A2 '^default'
tamis plan --capacity 1M --values | grep -A2 '^default'
echo "-- timed, some kind is the fastest, by a figure"
tamis plan --capacity 2k --unions --measure | grep -cE "^fastest:  [a-z]+, [0-9.]+ ns per query"
tamis plan --json --capacity 1M | grep -o '"default": .*}'
tamis plan --json --capacity 1M --deletes | grep -o '"default": .*}'
tamis plan --json --capacity 1M --size 1M | grep -o '"default": .*}'
tamis plan --json -k classic --capacity 1M | grep -o '"default": .*}'
