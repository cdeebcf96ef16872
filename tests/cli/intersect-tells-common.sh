# SPDX-License-Identifier: MIT
# How many keys two sets share is said before the filters are put together, for two images only.
seq 1 2000 | tamis build a.tamis --capacity 2000 -q
seq 1001 3000 | tamis build b.tamis --capacity 2000 -q
seq 1500 3500 | tamis build c.tamis --capacity 2000 -q
tamis intersect a.tamis b.tamis -o ab.tamis 2>&1
tamis intersect -q a.tamis b.tamis -o quiet.tamis
tamis intersect a.tamis b.tamis c.tamis -o abc.tamis 2>&1
seq 1001 2000 | tamis check -vc ab.tamis
