# SPDX-License-Identifier: MIT
# --new prints what was not there yet, once and in order, and remembers it.
tamis build -q seen.tamis --spec blocked:capacity=1000,fpr=1e-9 </dev/null
printf '%s\n' bee ant bee cat | tamis add --new seen.tamis 2>words
echo $?
sed 's/, [0-9.]* [KM]*i*B.*//' words
echo "# again"
printf '%s\n' cat dog ant | tamis add -q --new seen.tamis
echo $?
echo "# none"
printf '%s\n' cat dog | tamis add -q --new seen.tamis
echo $?
echo "# to another image"
cp seen.tamis before.tamis
printf 'ewe\0ewe\0' | tamis add -q --new -0 seen.tamis -o more.tamis | tr '\0' '\n'
cmp seen.tamis before.tamis
printf '%s\n' ant ewe | tamis check more.tamis
