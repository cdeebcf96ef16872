# SPDX-License-Identifier: MIT
# What a patch is, for programs.
seq 1 500 >keys
tamis build -q old.tamis keys --spec classic:capacity=1000
seq 501 503 | tamis add -q old.tamis -o new.tamis
tamis diff old.tamis new.tamis -o a.patch --json
tamis apply old.tamis a.patch -o again.tamis --json
tamis diff old.tamis new.tamis -o - --json; echo $?
tamis apply old.tamis a.patch -o - --json; echo $?
