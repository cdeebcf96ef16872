# SPDX-License-Identifier: MIT
# A low rate lasts while the filters grow; one that could not is refused before the first line.
seq 1 30000 >all.txt
for rate in 1e-7 1e-9 1e-10; do
    tamis uniq --fpr $rate --capacity 1000 all.txt all.txt >kept.txt
    cmp kept.txt all.txt
done
tamis uniq --fpr 1e-9 --memory 64KiB --total all.txt
tamis uniq --fpr 9e-11 all.txt; echo $?
