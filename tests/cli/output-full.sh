# SPDX-License-Identifier: MIT
# A full disk is an error, not silence.
[ -c /dev/full ] || { echo "no /dev/full"; exit 77; }
seq 1 100 >keys
tamis build -q image.tamis keys
tamis check image.tamis keys >/dev/full; echo $?
tamis check -c image.tamis keys >/dev/full; echo $?
yes 1 | tamis check image.tamis >/dev/full; echo $?
tamis info --json image.tamis >/dev/full; echo $?
tamis --help >/dev/full; echo $?
tamis build - keys >/dev/full; echo $?
