# SPDX-License-Identifier: MIT
# A map that was built with update=yes takes new values for its keys, not new keys.
printf 'alice\t3\nbob\t4\n' | tamis build -q map.tamis --values --spec bloomier:update=yes,guard=20,value=8
printf 'alice\t9\n' | tamis put -q map.tamis
printf '%s\n' alice bob | tamis get map.tamis
cp map.tamis before.tamis
printf 'bob\t5\nzed\t1\n' | tamis put map.tamis; echo $?
printf 'bob\t256\n' | tamis put map.tamis; echo $?
cmp map.tamis before.tamis
printf 'alice\t3\n' | tamis build -q fixed.tamis --values
printf 'alice\t4\n' | tamis put fixed.tamis; echo $?
printf 'alice\t3\nbob\t300\n' | tamis build map.tamis -f --values --spec bloomier:value=8; echo $?
