# SPDX-License-Identifier: MIT
# What grew is told truly or not at all: its rate, a union; and how many keys an intersection has.
seq 1 20000 | tamis build built.tamis --spec 'scalable:capacity=100,fpr=1%' -q
seq 100001 110000 | tamis check -c built.tamis
seq 1 1000 | tamis build a.tamis --spec 'scalable:capacity=100,fpr=1%' -q
seq 501 1500 | tamis build b.tamis --spec 'scalable:capacity=100,fpr=1%' -q
tamis union a.tamis b.tamis -o ab.tamis 2>&1
seq 1 2000 | tamis build c.tamis --capacity 2000 -q
seq 1001 3000 | tamis build d.tamis --capacity 2000 -q
tamis intersect c.tamis d.tamis -o cd.tamis -q
tamis info cd.tamis | grep 'items\|caveat\|intersection'
tamis union cd.tamis c.tamis -o all.tamis 2>&1
