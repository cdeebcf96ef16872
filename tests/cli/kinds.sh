# SPDX-License-Identifier: MIT
# Each kind has its contract and its abilities; NAME adds its options.
tamis kinds >list
for kind in classic blocked split; do grep -c "^$kind  *[a-z]" list; done
grep -c '^  *can add' list | sed 's/^[0-9][0-9]*$/some/'
tail -n 1 list
tamis kinds classic | sed -n '/^Abilities/,/^$/p'
tamis kinds classic | grep -A 1 'hashes=N'
tamis kinds classic | grep -c 'capacity=N'
tamis kinds clasic; echo $?
tamis kinds --json classic | grep -o '"kinds": \[{"name": "classic", "id": 1,'
tamis kinds --json classic | grep -o '"abilities": \[[^]]*]'
