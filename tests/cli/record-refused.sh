# SPDX-License-Identifier: MIT
# What cannot be recorded is refused in a sentence, and nothing is written or changed.
seq 1000 1999 >one
seq 1 100 >keys
tamis record -q files.tamis one
tamis record -q --lines lines.tamis one
tamis build -q set.tamis keys
cp files.tamis before
try() { tamis record "$@" </dev/null; echo "exit $?"; }
try
try new.tamis missing
try new.tamis one missing
try new.tamis .
try new.tamis - # how much?
try missing/new.tamis one
try files.tamis missing
try files.tamis one --fpr 1%
try files.tamis one --spec hierarchical:block=32
try files.tamis one --lines
try lines.tamis one
try set.tamis one
try one one
try new.tamis one --spec classic
try new.tamis one --spec hierarchical:block=7
try new.tamis one --spec hierarchical:block=64 --fpr 1%
try new.tamis one --frobnicate
try files.tamis one -o keys
printf x >'a
b'
try files.tamis 'a
b'
mkdir many && (cd many && seq -f "%.0f-a-rather-long-name-for-a-file-with-very-little-in-it-which-takes-room" 14000 | xargs touch)
find many -type f | xargs -n 20000 -s 2000000 tamis record files.tamis; echo "exit $?"
find many -type f | xargs -n 20000 -s 2000000 tamis record -q --no-names other.tamis one; echo "exit $?"
cmp files.tamis before && ls *.tamis
