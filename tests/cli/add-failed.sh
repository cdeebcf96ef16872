# SPDX-License-Identifier: MIT
# When adding fails, the image is as before.
seq 1 100 >keys
tamis build -q image.tamis keys
cp image.tamis before.tamis
tamis add image.tamis keys nowhere
echo $?
cmp image.tamis before.tamis
tamis add nowhere.tamis keys
echo $?
tamis add keys keys
echo $?
ls
