# SPDX-License-Identifier: MIT
# Values of an image are set, all of them or none.
printf 'alice\t3\n' | tamis build -q map.tamis --values --spec approximator:capacity=100,fpr=1e-6
printf 'bob\t4\nalice\t9\n' | tamis put map.tamis 2>summary; echo $?
sed 's/set, .*/set, .../' summary
printf 'alice\nbob\n' | tamis get map.tamis
cp map.tamis before.tamis
printf 'carol\t4\nalice\n' | tamis put map.tamis; echo $?
printf 'carol\t4\nalice\t300\n' | tamis put map.tamis; echo $?
cmp map.tamis before.tamis
printf 'carol\t4\n' | tamis put -q map.tamis -o new.tamis
cmp map.tamis before.tamis
echo carol | tamis get new.tamis
printf 'dave\t5\n' >more
echo dave >names
tamis put -q - more <new.tamis | tamis get - names; echo $?
tamis put -q map.tamis more --note source=more; tamis get map.tamis names
seq 1 10 | tamis build -q set.tamis
tamis put set.tamis more 2>words; echo $?
sed 's/\(kinds that can\): .*/\1/' words
