# SPDX-License-Identifier: MIT
# What cannot be announced, and where it cannot go.
seq 1 10 | tamis build -q plain.tamis
tamis create -q told.tamis --spec counting:capacity=100,log=yes
tamis create -q no-log.tamis --spec counting:capacity=100
tamis create -q keyed.tamis --spec counting:capacity=100,log=yes,hash=sip13
tamis announce plain.tamis -o out; echo $?
tamis announce no-log.tamis -o out; echo $?
tamis announce keyed.tamis -o out --now; echo $?
tamis announce told.tamis; echo $?
tamis announce told.tamis -o out --now --max-message 63; echo $?
tamis announce told.tamis -o out --now --max-message 65508; echo $?
tamis announce told.tamis -o out --threshold 2; echo $?
tamis announce told.tamis -o - --json; echo $?
tamis announce told.tamis -o nowhere/out --now; echo $?
echo old >out; tamis announce told.tamis -o out --now; echo $?; cat out
tamis announce told.tamis -o out --now --force 2>&1; echo $?
tamis announce missing.tamis -o new; echo $?
ls new nowhere 2>/dev/null
