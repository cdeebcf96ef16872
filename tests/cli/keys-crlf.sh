# SPDX-License-Identifier: MIT
# A CR before a newline ends the line with it: lists and questions match, whoever wrote them.
printf 'ant\r\nbee\r\n' >dos
printf 'ant\nbee\n' >unix
printf 'ant\r\nbee\n' >both
tamis build -q dos.tamis dos
tamis build -q unix.tamis unix
cmp dos.tamis unix.tamis && echo "the same image"
for file in dos unix both; do tamis check dos.tamis $file | tr '\r' R; done
echo "-- a CR elsewhere, and one before a NUL, belongs to the key"
printf 'a\rb\n\r\r\n' | tamis build -q inside.tamis --keep-empty
printf 'a\rb\nab\n' | tamis check inside.tamis | tr '\r' R
printf '\r\n' | tamis check -c inside.tamis
printf '\r\r\n' | tamis check -c inside.tamis
printf 'ant\r\0' | tamis check -0c dos.tamis
echo "-- in a line that no block holds"
{ head -c 300000 /dev/zero | tr '\0' x && printf '\r\n'; } | tamis build -q long.tamis
head -c 300000 /dev/zero | tr '\0' x | tamis check -c long.tamis
echo "-- before values and in fields"
printf 'k,v\t7\r\n' | tamis build -q map.tamis --values -d, --field 1
printf 'k\r\nx\r\n' | tamis get map.tamis | tr '\r' R
printf 'v,k\r\n' | tamis check -c map.tamis -d, --field 2
