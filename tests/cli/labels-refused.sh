# SPDX-License-Identifier: MIT
# What cannot be labelled is refused, and the image stays as it was.
echo ant >keys
tamis build -q image.tamis --label one keys
cp image.tamis before.tamis
tamis label image.tamis ''; echo $?
tamis label image.tamis 'a	b' keys; echo $?
tamis label image.tamis two nowhere; echo $?
tamis label image.tamis two keys -o nowhere/image.tamis; echo $?
tamis label - two <image.tamis; echo $?
tamis label keys; echo $?
tamis add image.tamis keys; echo $?
tamis remove image.tamis keys; echo $?
cmp image.tamis before.tamis
tamis build new.tamis --label 'a	b' keys; echo $?
tamis build new.tamis --label a keys keys; echo $?
tamis build new.tamis --label a keys --values; echo $?
tamis build -q set.tamis keys
tamis label set.tamis; echo $?
tamis label set.tamis two keys; echo $?
tamis check --labels set.tamis keys; echo $?
ls
