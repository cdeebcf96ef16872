# SPDX-License-Identifier: MIT
# More keys than planned: a warning, no error; -q keeps it silent.
seq 1 300 | tamis build image.tamis --spec blocked:capacity=100 2>words
echo $?
sed -n 's/: the false-positive rate is now .*/: the false-positive rate is now P/p' words
seq 1 300 | tamis build -qf image.tamis --spec blocked:capacity=100
tamis info image.tamis | grep warning
seq 301 9000 | tamis add image.tamis 2>words
echo $?
grep warning words
tamis info image.tamis | grep warning
echo "-- a high rate that was asked for is no reason to warn; the share that is told is the share"
seq 1 1000 | tamis build high.tamis -p 0.5
seq 1 1000 | tamis build -f high.tamis -p 0.9
seq 1 4000 | tamis build -f high.tamis -p 0.5 -n 1000 2>words
cat words
