# SPDX-License-Identifier: MIT
# Whatever is not two images, or cannot be written, leaves no patch behind.
seq 1 500 >keys
tamis build -q old.tamis keys --spec classic:capacity=1000
seq 501 503 | tamis add -q old.tamis -o new.tamis
head -c 700 new.tamis >cut.tamis
: >empty
mkdir folder
tamis diff old.tamis new.tamis; echo $?
tamis diff old.tamis -o a.patch; echo $?
tamis diff old.tamis missing.tamis -o a.patch; echo $?
tamis diff folder new.tamis -o a.patch; echo $?
tamis diff empty new.tamis -o a.patch; echo $?
tamis diff old.tamis cut.tamis -o a.patch; echo $?
tamis diff keys new.tamis -o a.patch; echo $?
tamis diff old.tamis new.tamis -o folder; echo $?
tamis diff old.tamis new.tamis -o nowhere/a.patch; echo $?
tamis diff old.tamis new.tamis -o keys; echo $?
tamis diff old.tamis new.tamis -o a.patch --sing k; echo $?
ls
if [ -c /dev/full ]; then
    tamis diff old.tamis new.tamis -o - >/dev/full; echo $?
    tamis diff old.tamis new.tamis -o a.patch --json >/dev/full; echo $?
else
    echo "no /dev/full"; exit 77
fi
tamis diff -q old.tamis new.tamis -o - >&-; echo $?
echo "# a full disk"
(ulimit -f 0; trap '' XFSZ; tamis diff old.tamis new.tamis -o b.patch; echo $?) 2>&1 | cat
ls
