# SPDX-License-Identifier: MIT
# Time passes, and what is old leaves; in place or to another image.
printf '%s\n' ant bee >keys
tamis build -q recent.tamis keys --spec window:capacity=3,generations=2,by=clock,fpr=1e-9
cp recent.tamis before.tamis
tamis tick recent.tamis --by 1,000 -o later.tamis; echo $?
tamis tick recent.tamis --by 1000 -o later.tamis 2>words; echo $?
sed 's/, [0-9.]* [KM]*i*B.*//' words
cmp recent.tamis before.tamis
tamis check -c later.tamis keys
echo "# two steps are remembered, three are not"
tamis tick recent.tamis 2>words; echo $?
sed 's/, [0-9.]* [KM]*i*B.*//' words
tamis tick -q recent.tamis
tamis check -c recent.tamis keys
tamis tick -q recent.tamis
tamis check -c recent.tamis keys
echo "# what is there stays, unless forced"
tamis tick -q recent.tamis -o later.tamis; echo $?
tamis tick -qf recent.tamis -o later.tamis; echo $?
tamis tick recent.tamis 4; echo $?
echo "# no number of steps takes years"
tamis tick recent.tamis --by 1e18; echo $?
tamis tick recent.tamis --by 0; echo $?
