# SPDX-License-Identifier: MIT
# A key may hold any byte, NUL too, and be of any length.
printf 'a\000b\n\377\376\n' >keys
tamis build -q image.tamis keys
printf 'a\000b\na\na\000c\n\377\376\n' | tamis check -n image.tamis | od -An -c
{ head -c 3000000 /dev/zero | tr '\000' x; echo; head -c 300000 /dev/zero | tr '\000' y; } >long
tamis build -q long.tamis long
tamis check long.tamis long | wc -c | tr -d ' '
tamis check -c long.tamis long
