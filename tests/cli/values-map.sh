# SPDX-License-Identifier: MIT
# A map from keys to numbers, without the keys; a key with two values is named.
printf 'alice\t3\nbob\t0x10\na\tb\t200\nalice\t3\n' >table
tamis build map.tamis table --values --fpr 1e-6 2>summary; echo $?
sed 's/ (4 lines), .*/ (4 lines), .../' summary
printf '%s\n' alice bob zed 'a	b' | tamis get map.tamis; echo $?
tamis info map.tamis | sed -n 's/  kind  *\([a-z]*\):.*/\1/p'
echo "# one key, two values"
printf 'zed\t1\nalice\t4\n' >more
tamis build -f map.tamis --values table more; echo $?
tamis build -f map.tamis --values table - <more; echo $?
cat more | tamis build -f map.tamis --values table -; echo $?
cat table more | tamis build -f map.tamis --values; echo $?
echo bob | tamis get map.tamis
tamis add map.tamis more; echo $?
echo "# all values 0"
echo key | tamis build zero.tamis --kind bloomier 2>&1 | tail -n 1
ls
