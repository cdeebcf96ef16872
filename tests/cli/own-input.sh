# SPDX-License-Identifier: MIT
# A file that is read is not replaced by what is made of it, by whatever name it goes.
printf '%s\n' ant bee >list.txt && cp list.txt before.txt
ln -s list.txt link.txt && ln list.txt hard.txt
tamis build -f list.txt list.txt; echo $?
tamis build -f link.txt list.txt
tamis build -f hard.txt other.txt ./list.txt
tamis build -f list.txt --label a list.txt --label b before.txt
tamis build -f list.txt before.txt --kind cascade --exclude list.txt
tamis build -f list.txt <list.txt; echo $?
tamis sketch -f list.txt list.txt --similar; echo $?
tamis build -q a.tamis list.txt && tamis build -q b.tamis before.txt -s blocked:capacity=2,seed=0
tamis diff -q a.tamis b.tamis -o p.patch
tamis diff -f a.tamis b.tamis -o b.tamis; echo $?
tamis apply -f a.tamis p.patch -o p.patch; echo $?
tamis convert -f --to bip37 a.tamis a.tamis; echo $?
tamis plot fill a.tamis -f -o a.tamis
echo "-- an image may become its next version"
tamis union -qf a.tamis b.tamis -o a.tamis; echo $?
cp b.tamis old.tamis && tamis add -q b.tamis -o new.tamis list.txt
tamis diff -q b.tamis new.tamis -o q.patch && tamis apply -qf b.tamis q.patch -o b.tamis; echo $?
tamis build -qf a.tamis list.txt; echo $?
cmp list.txt before.txt
