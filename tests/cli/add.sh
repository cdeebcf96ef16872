# SPDX-License-Identifier: MIT
# Keys are added in place, or to a new image.
seq 1 100 >first
seq 101 200 >second
tamis build -q image.tamis first -n 200
cp image.tamis before.tamis
tamis add -q image.tamis second -o after.tamis
cmp image.tamis before.tamis
tamis add -q image.tamis <second
cmp image.tamis after.tamis
tamis check -c image.tamis first second
tamis add image.tamis second -o before.tamis
echo $?
tamis info image.tamis | grep items | sed 's/, about.*//'
