# SPDX-License-Identifier: MIT
# Many named sets in one image: build them, ask which have a key, add one, list them.
printf '%s\n' ant bee cat >spam.txt
printf '%s\n' bee cat dog >malware.txt
printf '%s\n' cat ewe >'a,b\c.txt'
: >empty.txt
tamis build feeds.tamis --fpr 1e-6 --label spam spam.txt --label malware malware.txt \
    --label none empty.txt 2>summary
sed 's/labels, .*/labels, .../' summary
tamis label feeds.tamis; echo $?
printf '%s\n' ant bee cat dog ewe fox >keys
echo "# check"; tamis check feeds.tamis keys
echo "# --labels"; tamis check --labels feeds.tamis keys; echo $?
echo "# -v"; tamis check --labels -v feeds.tamis keys
echo "# -cnH"; tamis check --labels -c feeds.tamis keys; tamis check --labels -nH feeds.tamis keys
echo fox | tamis check --labels feeds.tamis; echo $?
echo "# one more"
tamis label feeds.tamis 'a,b\c' 'a,b\c.txt' 2>summary
sed 's/in total, .*/in total, .../' summary
tamis label feeds.tamis
tamis check --labels feeds.tamis keys
echo "# more keys, elsewhere"
cp feeds.tamis before.tamis
echo fox | tamis label -q feeds.tamis spam -o new.tamis
cmp feeds.tamis before.tamis
tamis label new.tamis | head -n 1
echo fox | tamis check --labels new.tamis
tamis label -q - spam keys <feeds.tamis | tamis label - | head -n 1
echo "# info"
tamis info feeds.tamis | grep -e '^  capacity' -e '^  items' -e '^  labels' | sed 's/,* about.*//'
tamis info --json feeds.tamis | grep -o '"value_bits": null, "labels": 4'
echo "# many at once"
for i in 1 2 3 4 5 6 7 8 9; do echo key >list$i.txt; done
tamis build -q many.tamis list*.txt --kind labels
echo key | tamis check --labels many.tamis
