# SPDX-License-Identifier: MIT
# Reports in colour: names, headings, and what is wrong.
seq 1 3000 | tamis build -q full.tamis --spec blocked:capacity=1000
show() { tr '\033' '^'; }
tamis doctor --color always full.tamis | grep -e full.tamis -e file -e items | show
tamis plan --color always --capacity 1M --kind fuse | head -2 | show
tamis plan --color always --capacity 1M --counts | head -2 | show
