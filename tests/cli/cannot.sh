# SPDX-License-Identifier: MIT
# What a kind cannot do is refused before anything is read or written, with the kinds that can.
seq 1 100 | tamis build -q image.tamis --capacity 100
cp image.tamis before.tamis
for verb in remove count tick "resize --capacity 200"; do
    tamis $verb image.tamis </dev/null 2>words
    echo $?
    sed 's/; .*//' words
    grep -c -e '; kinds that can: [a-z]' -e '; no kind can$' words
done
cmp image.tamis before.tamis
