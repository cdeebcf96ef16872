# SPDX-License-Identifier: MIT
# Kinds of fixed room say that it ended. One that stores each add can be full of a single key.
yes ant | head -n 5000 >keys
tamis build image.tamis keys --spec cuckoo:capacity=100 2>words; echo $?
sed -e 's/many: .*full[^;]*;/many: ... full ...;/' words
seq 1 500 | tamis build image.tamis --spec cuckoo:capacity=100 2>words; echo $?
sed -e 's/many: .*full[^;]*;/many: ... full ...;/' words
ls
sort -u keys | tamis build -q image.tamis --spec cuckoo:capacity=100; echo $?
tamis add image.tamis keys 2>words; echo $?
sed -e 's/line [0-9]*: .*full[^;]*;/line N: ... full ...;/' words
echo "# without a capacity there is room for what comes"
seq 1 500 | tamis build -qf image.tamis --kind cuckoo
seq 1 500 | tamis check -c image.tamis
