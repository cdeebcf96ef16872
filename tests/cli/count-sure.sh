# SPDX-License-Identifier: MIT
# Small counters stop at their largest value: that is said once, and -q keeps it silent.
yes ant | head -n 40 >keys
echo bee >>keys
tamis build -q image.tamis keys --spec counting:capacity=100,fpr=1e-9
printf '%s\n' ant bee ant | tamis count image.tamis
echo bee | tamis count image.tamis
echo ant | tamis count -q image.tamis; echo $?
tamis info image.tamis | grep -e '^  counts' -e '^  warning' | sed 's/\(warning  *\).*/\1.../'
echo "# a kind without such a limit"
tamis build -q many.tamis keys --spec multiset:capacity=100,fpr=1e-9
echo ant | tamis count many.tamis
tamis info many.tamis | sed -n '/^  counts/p'
