# SPDX-License-Identifier: MIT
# Nearly all is not printed as all, and a high rate that was asked for is no trouble.
seq 1 100000 >a && seq 3 100002 >b && seq 5 100000 >c
tamis similar --exact a b
tamis similar --exact a a
tamis similar --exact a c
seq 1 1000 >keys
for rate in 0.5 0.9; do
    tamis build -f half.tamis keys -p $rate
    tamis info half.tamis | grep -c warning
    tamis doctor half.tamis | grep -c sick
done
tamis build -q few.tamis keys -n 10 && tamis add few.tamis keys
tamis info few.tamis | grep warning
