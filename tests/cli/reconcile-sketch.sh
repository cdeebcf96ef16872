# SPDX-License-Identifier: MIT
# Sets by sketches: against a file, against each other, and what to do when they are too small.
seq 1 20000 >here
(seq 4 20000; printf 'x\ny\n') >there
sketch() { # image, file, differences
    tamis sketch -qf "$1" "$2" --differences "$3"
}
sketch here.tamis here 100
sketch there.tamis there 100
tamis reconcile here.tamis there >list; echo $?
cat list
tamis reconcile -q --hashes list here.tamis here; echo $?
tamis reconcile -q there here.tamis; echo $?
tamis reconcile -q here.tamis there.tamis; echo $?
tamis reconcile here.tamis here; echo $?
tamis reconcile -q here.tamis there --only 1
tamis reconcile -q here.tamis there --only 2
tamis reconcile here.tamis there --json 2>&1 >/dev/null
echo "# too different"
seq 15001 40000 >far
tamis reconcile here.tamis far; echo $?
tamis reconcile here.tamis far --json --partial 2>&1 >/dev/null | grep -v warning
tamis reconcile -q here.tamis far --partial >out; echo $?
echo "# with keys of a form, which the image remembers"
printf 'Pear\nFIG\n' >fruit
printf 'pear\nkiwi\n' >others
tamis create -q fruit.tamis --spec iblt:differences=20 --canon lower && tamis add -q fruit.tamis fruit
tamis reconcile -q fruit.tamis others | sed 's/#.*/#(hash)/'
tamis reconcile -q fruit.tamis others | tamis reconcile -q --hashes - fruit.tamis fruit
tamis reconcile fruit.tamis others --canon upper; echo $?
echo "# refused"
sketch other.tamis there 200
tamis reconcile here.tamis other.tamis; echo $?
tamis build -q set.tamis here
tamis reconcile set.tamis there; echo $?
tamis create -q keyed.tamis --spec iblt:differences=20,hash=sip13
tamis reconcile keyed.tamis there; echo $?
head -c 16 /dev/zero >secret
tamis create -q keyed.tamis -f --spec iblt:differences=20,hash=sip13,key=outside --secret-file secret
tamis add -q keyed.tamis here --secret-file secret
tamis reconcile -q keyed.tamis there --secret-file secret --only 2; echo $?
head -c 1000 here.tamis >cut.tamis
tamis reconcile cut.tamis there; echo $?
