# SPDX-License-Identifier: MIT
# Payloads go into an image, and excerpts of them are found again: whole files, and lines.
seq 1000 2999 >one
seq 5000 2 8000 >two
seq 1 5 >tiny
tamis record traffic.tamis one two tiny; echo "exit $?"
tamis info traffic.tamis | grep -E 'spec|note|items'
tail -c +124 two | head -c 200 >excerpt
tamis trace traffic.tamis excerpt; echo "exit $?"
echo "-- more of it, in place and elsewhere; a name is kept once"
seq 30000 31000 >three
tamis record traffic.tamis three one; echo "exit $?"
tamis record traffic.tamis two -o same.tamis -q --note comment=twice; echo "exit $?"
tamis info same.tamis | grep note
cat one | tamis record piped.tamis --capacity 1000 --fpr 1e-6 -q; echo "exit $?"
tail -c +200 one | head -c 300 | tamis trace piped.tamis -q; echo "exit $?"
tail -c +200 one | head -c 300 | tamis trace piped.tamis
echo "-- lines"
awk '{ print "from 10.0.0." $1 % 250 " GET /page/" $1 * 7919 % 10007 "?id=" $1 * 104729 }' one >log
tamis record --lines log.tamis log --spec hierarchical:block=16,fpr=1e-4; echo "exit $?"
sed -n 1234p log | cut -c 10-44 | tr -d '\n' | tamis trace log.tamis; echo "exit $?"
head -n 10 log | tamis record --lines log.tamis -q; echo "exit $?"
tamis info log.tamis | grep note
sed -n 7p log | cut -c 1-36 | tr -d '\n' | tamis trace log.tamis; echo "exit $?"
echo "-- without names"
tamis record anon.tamis one two --no-names -q; echo "exit $?"
tamis trace anon.tamis excerpt; echo "exit $?"
printf 'two\none\n' | tamis trace anon.tamis excerpt --flows -; echo "exit $?"
echo "-- keyed"
head -c 16 one >secret
tamis record keyed.tamis one two --secret-file secret -q; echo "exit $?"
tamis trace keyed.tamis excerpt --secret-file secret; echo "exit $?"
tamis trace keyed.tamis excerpt; echo "exit $?"
