# SPDX-License-Identifier: MIT
# Each line with its count before it, in the order in which lines come.
printf '%s\n' ant bee ant cat ant bee >keys
tamis build -q image.tamis keys --spec counting:capacity=100,fpr=1e-9
printf '%s\n' cat dog ant >one
printf 'bee\r\n' >two
tamis count image.tamis one; echo $?
echo "# -nH"; tamis count -nH image.tamis one - <two | tr -d '\r'
echo "# -0"; printf 'ant\0dog\0' | tamis count -0 image.tamis | tr '\0' '\n'
echo "# none"; echo dog | tamis count image.tamis; echo $?
echo "# -q"; tamis count -q image.tamis one; echo $?
echo "# a file that is not there"; tamis count image.tamis nowhere one; echo $?
echo "# after a removal"
echo ant | tamis remove -q image.tamis
echo ant | tamis count image.tamis
