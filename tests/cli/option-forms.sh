# SPDX-License-Identifier: MIT
# Long and short forms, values attached or apart, bundled letters, and -- before operands.
printf '%s\n' red green blue >keys
tamis build -q -n3 a.tamis keys
tamis build -q --capacity=3 b.tamis keys
tamis build b2.tamis --quiet keys --capacity 3
cmp a.tamis b.tamis && cmp a.tamis b2.tamis
tamis check -cv a.tamis keys
tamis check -vc a.tamis keys
cp keys ./-n
tamis check -n -- a.tamis -n
