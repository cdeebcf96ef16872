# SPDX-License-Identifier: MIT
# With -0, -z, --null or --zero-terminated a key ends in NUL and may hold newlines.
printf 'a\nb\000c\000' >keys
tamis build -q image.tamis --null keys
printf 'c\000a\000a\nb\000' | tamis check -0 image.tamis | tr '\000\n' '0n'
echo
printf 'c\000a\000a\nb' | tamis check -zn image.tamis | tr '\000\n' '0n'
echo
tamis check -c --zero-terminated image.tamis keys
