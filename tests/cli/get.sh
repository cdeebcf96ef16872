# SPDX-License-Identifier: MIT
# Keys with a value are printed with it; the ways of check hold here too.
printf 'alice\t3\nbob\t0x10\ncarol\t1k\nalice\t7\na\tb\t5\n' >table
tamis build ages.tamis table --values --spec approximator:value=16,fpr=1e-6 2>summary
sed 's/ (5 lines),.*/ (5 lines)/' summary
printf '%s\n' alice zed bob carol 'a	b' >keys
echo "# get"; tamis get ages.tamis keys; echo $?
echo "# -v"; tamis get -v ages.tamis keys; echo $?
echo "# -c"; tamis get -c ages.tamis keys
echo "# -nH"; tamis get -nH ages.tamis keys
echo "# -q"; echo zed | tamis get -q ages.tamis; echo $?
echo "# crlf"; printf 'bob\r\n' | tamis get ages.tamis | od -An -c
echo "# nul"; printf 'bob\0' | tamis get -0 ages.tamis | od -An -c
echo "# info"; tamis info ages.tamis | grep values
tamis info --json ages.tamis | grep -o '"value_bits": 16, "labels": null'
echo "# not a map"
seq 1 10 | tamis build -q set.tamis
tamis get set.tamis keys 2>words; echo $?
sed 's/\(kinds that can\): .*/\1/' words
