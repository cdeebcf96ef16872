# SPDX-License-Identifier: MIT
# Kinds that are built once: from a pipe, in any order, memory and number of threads, the same
tamis kinds fuse >/dev/null 2>&1 || { echo "no kind fuse"; exit 77; }
# bytes. They take no more keys.
seq 1 100000 >keys
{ tac keys; head -n 500 keys; } >mixed
for kind in gcs fuse ribbon; do
    echo "# $kind"
    tamis build image.tamis mixed --kind $kind --fpr 1e-6 --verify 2>&1 | sed 's/lines), .*/lines)/'
    tamis build -q one.tamis keys --kind $kind --fpr 1e-6 -T 1
    cat mixed | tamis build -q - --kind $kind --fpr 1e-6 --memory 64M | cmp - image.tamis
    cmp one.tamis image.tamis
    tamis check -c image.tamis keys
    seq 100001 101000 | tamis check image.tamis; echo $?
    tamis add image.tamis keys; echo $?
    tamis remove image.tamis keys; echo $?
    tamis info image.tamis | grep '^  items' | sed 's/,* about.*//'
    cmp one.tamis image.tamis
    cp image.tamis before
    tamis build -q --force image.tamis nowhere --kind $kind; echo $?
    cmp before image.tamis
    for keys in /dev/null one; do
        echo key >one
        tamis build -q few.tamis $keys --kind $kind --fpr 1e-6
        printf 'key\nkeys\n' | tamis check few.tamis; echo $?
        rm few.tamis
    done
    rm image.tamis one.tamis
done
ls
