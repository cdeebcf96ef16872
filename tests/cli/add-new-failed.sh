# SPDX-License-Identifier: MIT
# When printing or saving fails, nothing is remembered: it will be new again.
[ -c /dev/full ] || { echo "no /dev/full"; exit 77; }
tamis build -q seen.tamis -n 2000 </dev/null
cp seen.tamis before.tamis
echo ant >keys
tamis add --new seen.tamis keys >/dev/full; echo $?
seq 1 1024 | tamis add --new seen.tamis >/dev/full; echo $?
tamis add --new seen.tamis keys nowhere; echo $?
tamis add --new seen.tamis keys -o nowhere/out.tamis 2>words; echo $?
sed 's/\(nowhere\/out.tamis\).*: /\1: ...: /' words
cmp seen.tamis before.tamis
echo "# no place for both the keys and the image"
tamis add --new seen.tamis keys -o - >out; echo $?
tamis add --new - keys <seen.tamis >out; echo $?
wc -c <out | tr -d ' '
