# SPDX-License-Identifier: MIT
# Every kind is in the plan, with what it costs.
tamis plan --capacity 1M --fpr 1% >list
head -n 1 list
for kind in classic blocked split; do grep -c "^$kind  *[0-9.]* .iB  " list; done
tamis plan capacity=1M,fpr=1% | cmp - list
