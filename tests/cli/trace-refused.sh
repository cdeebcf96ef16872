# SPDX-License-Identifier: MIT
# What cannot be traced, in sentences; the others still are.
seq 1000 2999 >one
seq 1 100 >keys
tamis record -q traffic.tamis one
tamis build -q set.tamis keys
head -c 200 one >a
try() { tamis trace "$@" </dev/null; echo "exit $?"; }
try
try missing.tamis a
try keys a
try set.tamis a
try traffic.tamis missing
try traffic.tamis missing a
try traffic.tamis keys --hex
try traffic.tamis --hex --text 'not hex'
try traffic.tamis --text 'too short'
try traffic.tamis --text x a
try traffic.tamis --flows missing a
try traffic.tamis --flows -
try traffic.tamis --flows - -
try traffic.tamis
try traffic.tamis a keys --json | sed "s,\(\.[0-9]\{4\}\)[0-9]*,\1,g"
tamis trace traffic.tamis a >/dev/full; echo "exit $?"
cp traffic.tamis bad.tamis
tamis build -q odd.tamis keys --spec hierarchical:capacity=100 --note lines=99999999999
try odd.tamis a
