# SPDX-License-Identifier: MIT
# A secret outside the image: missing, wrong, unreadable, not a secret; and right.
seq 1 100 >keys
echo 000102030405060708090a0b0c0d0e0f >right
echo FF0102030405060708090A0B0C0D0E0F >wrong
echo 0001 >short
printf '0123456789abcdef' >raw
tamis build -q image.tamis keys --secret-file right
tamis info --secret-file right image.tamis | grep -E 'spec|hash|secret'
tamis check -c --secret-file right image.tamis keys
tamis check -c image.tamis keys; echo $?
tamis check -c --secret-file wrong image.tamis keys; echo $?
tamis check -c --secret-file nowhere image.tamis keys; echo $?
tamis check -c --secret-file short image.tamis keys; echo $?
tamis build -q raw.tamis keys --spec hash=sip13,key=outside --secret-file raw
tamis check -c --secret-file raw raw.tamis keys
tamis build none.tamis keys --spec hash=sip13,key=outside; echo $?
