# Every kind is in the plan, with the capacity that was asked.
tamis plan --capacity 1M --fpr 1% >list
head -n 1 list
for kind in classic blocked split; do grep -c "^$kind  *1,000,000  " list; done
tamis plan capacity=1M,fpr=1% | cmp - list
