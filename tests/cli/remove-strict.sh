# SPDX-License-Identifier: MIT
# --strict: the first key that is not there is an error, and nothing is written.
seq 1 100 | tamis build -q image.tamis --spec counting:capacity=100,fpr=1e-9
cp image.tamis before.tamis
seq 1 3 >good
printf '%s\n' 4 five 6 >bad
tamis remove --strict image.tamis good bad; echo $?
cmp image.tamis before.tamis
echo "# a key is shown as plain text of one line"
printf 'a\tb\033[2J\0\177\302\233\n' | tamis remove --strict image.tamis
printf '%0100d\n' 7 | tamis remove --strict image.tamis
tamis remove --strict -q image.tamis good; echo $?
tamis check -c image.tamis good; echo $?
