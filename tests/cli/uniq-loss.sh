# SPDX-License-Identifier: MIT
# Filters that are too small lose lines; how many is told, and is true.
seq 1 300000 >all.txt
cat all.txt all.txt >twice.txt
tamis uniq --memory 250k twice.txt >kept.txt
sort kept.txt >kept; sort all.txt >all; comm -13 kept all | wc -l | tr -d ' '
tamis uniq -q --memory 250k twice.txt | cmp - kept.txt
tamis uniq --fpr 1% --total twice.txt
tamis uniq --json --fpr 1% twice.txt >/dev/null
tamis uniq --total --memory 64KiB twice.txt
