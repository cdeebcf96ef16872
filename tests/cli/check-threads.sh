# SPDX-License-Identifier: MIT
# Several threads print what one prints, in the same order, from a file and from a pipe.
seq 0 3 600000 | tamis build -q set.tamis --spec blocked:fpr=1%
seq 1 400000 >asked.txt
for options in "" -n -v -c -vc; do
    tamis check $options set.tamis asked.txt >one.txt
    tamis check $options -T 3 set.tamis asked.txt | cmp - one.txt && echo "same with $options"
    tamis check $options -T 2 set.tamis <asked.txt | cmp - one.txt
    cat asked.txt | tamis check $options -T 2 set.tamis | cmp - one.txt
done
head -c 20000000 /dev/zero | tr '\0' x | tamis check -T 2 -c set.tamis # one long line
tamis check -T 2 -q set.tamis asked.txt && echo found
