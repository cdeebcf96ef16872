# SPDX-License-Identifier: MIT
# Folds that are not possible, and wishes that are not clear.
seq 1 200 >keys
tamis build -q big.tamis keys --spec blocked:capacity=10k,size=64KiB
tamis build -q full.tamis keys --spec blocked:capacity=200
tamis fold big.tamis -o out.tamis; echo $?
tamis fold big.tamis 2 --fpr 1% -o out.tamis
tamis fold big.tamis two -o out.tamis
tamis fold big.tamis 3 -o out.tamis; echo $?
tamis fold big.tamis 0 -o out.tamis; echo $?
tamis fold full.tamis --fpr 1e-6 -o out.tamis 2>&1 | sed 's/rate is already .*/rate is already P/'
ls
