# SPDX-License-Identifier: MIT
# A summary of a set: lines that come twice are one key, in any order, and those of parts join.
seq 1 3000 >a
{ seq 1500 3000; seq 1 2000; } >mixed
tamis sketch a.tamis a
tamis sketch mixed.tamis mixed
cmp a.tamis mixed.tamis
tamis sketch -q first.tamis a --differences 1000 --memory 1M -T 2 && cmp a.tamis first.tamis
head -n 1000 a | tamis sketch -q part.tamis
tail -n +1001 a | tamis sketch -q - >rest.tamis
tamis union -q part.tamis rest.tamis -o both.tamis && cmp a.tamis both.tamis
tamis info a.tamis | sed -n '2,3p;/items/p;/shape/p'
tamis doctor a.tamis | head -n 1
echo "-- sizes"
tamis sketch few.tamis a --differences 10 --note source=zoo
tamis info few.tamis | grep -e shape -e note
tamis sketch one.tamis </dev/null
tamis sketch strata.tamis a --spec iblt:differences=50,estimator=strata
printf '000102030405060708090a0b0c0d0e0f' >secret
tamis sketch keyed.tamis a --differences 10 --secret-file secret
tamis info keyed.tamis --secret-file secret | grep hash
tamis sketch lower.tamis a --canon lower -q && tamis info lower.tamis | grep canon
echo "-- others"
tamis sketch similar.tamis a --similar
tamis sketch small.tamis a --similar --bins 256
seq 1 500 >b
tamis sketch counts.tamis b --counts --error 1% --error-prob 1%
tamis sketch usual.tamis b --counts
