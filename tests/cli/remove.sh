# SPDX-License-Identifier: MIT
# Keys are taken out in place, or into a new image; what was not there is told.
seq 1 100 >keys
tamis build -q image.tamis keys --spec counting:capacity=100,fpr=1e-9
cp image.tamis before.tamis
seq 1 10 >gone
tamis remove -q image.tamis gone -o after.tamis; echo $?
cmp image.tamis before.tamis
tamis remove image.tamis <gone 2>words; echo $?
sed 's/, [0-9.]* [KM]*i*B.*//' words
cmp image.tamis after.tamis
tamis check -c image.tamis keys
tamis check image.tamis gone; echo $?
echo "# some are not there"
printf '%s\n' 10 11 12 | tamis remove image.tamis 2>words; echo $?
sed 's/, [0-9.]* [KM]*i*B.*//' words
echo "# none is there"
cp image.tamis before.tamis
tamis remove -q image.tamis gone; echo $?
cmp image.tamis before.tamis
echo "# NUL and CR, and a note"
printf '13\0' | tamis remove -q -0 image.tamis; echo $?
printf '14\r\n' | tamis remove -q image.tamis --note why=asked; echo $?
tamis check -c image.tamis keys
tamis info image.tamis | sed -n -e 's/^\(  items .*\), about.*/\1/p' -e '/why/p'
