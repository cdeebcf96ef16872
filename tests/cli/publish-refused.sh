# SPDX-License-Identifier: MIT
# Lists and directories that are not right; what was published stays.
mkdir lists empty
seq 1 100 >lists/a.txt; seq 1 200 >lists/b.txt
tamis publish -q lists out
cp -r out before
same() { diff -r out before && echo "as it was"; }
tamis publish nowhere out; echo $?
tamis publish empty out; echo $?
tamis publish lists/a.txt out; echo $?
tamis publish lists lists/a.txt; echo $?
tamis publish lists nowhere/out; echo $?
tamis publish lists; echo $?
tamis publish lists out --kind blocke; echo $?
tamis publish lists out --fpr 2; echo $?
same
echo "# names"
for name in 'with space.txt' .hidden.txt -dash.txt readme 'q"uote.txt' .txt c.bin; do : >"lists/$name"; done
mkdir lists/folder.txt
tamis publish lists out 2>&1 | sed 's/serial [0-9]*/serial N/'; same
for name in 'with space.txt' .hidden.txt -dash.txt readme 'q"uote.txt' .txt c.bin; do rm "lists/$name"; done
rmdir lists/folder.txt
gzip <lists/a.txt >lists/a.txt.gz
tamis publish lists out; echo $?
rm lists/a.txt.gz; same
echo "# one list fails, the others do not"
: >lists/a.txt; seq 1 205 >lists/b.txt
tamis publish lists out 2>&1 | sed 's/serial [0-9]*/serial N/'
cmp out/a.tamis before/a.tamis && grep -c '^feed' out/tamis.index
tamis publish -q lists out 2>/dev/null; echo $?
tamis publish lists out --force 2>&1 | sed 's/serial [0-9]*/serial N/'
seq 1 9999 | gzip | head -c 999 >lists/a.txt
tamis publish -q lists out; echo $?
printf 'not a number\n' >lists/a.txt
tamis publish -q lists numbers --keys int64; echo $?; ls numbers
echo "# few lines are keys"
mkdir few
printf '1\nx\ny\n' >few/a.txt; printf '1\n2\nx\ny\n' >few/half.txt
printf '# by ann\n1,x\n2\n3\n' >few/field.csv
tamis publish -q few most --keys int64; echo $?; ls most
tamis publish few built --keys int64 --kind fuse 2>&1 | sed "s/serial [0-9]*/serial N/"; ls built
tamis publish -q few fields -t, --field 2; echo $?
tamis publish few most --keys int64 --force 2>&1 | sed 's/serial [0-9]*/serial N/'
seq 1 100 >lists/a.txt; seq 1 200 >lists/b.txt
echo "# an index that is none, another kind of file, no room"
rm -r out && cp -r before out
echo text >out/tamis.index
tamis publish lists out; echo $?
cp before/tamis.index out && rm out/a.tamis && mkdir out/a.tamis
tamis publish -q lists out; echo $?
rm -r out && cp -r before out && seq 1 101 >lists/a.txt
(ulimit -f 0; trap '' XFSZ; tamis publish -q lists out; echo $?) 2>&1 | cat
same
echo "# interrupted before the index: the next run heals it"
tamis publish -q lists other && cp other/a.tamis out/a.tamis
tamis publish lists out 2>&1 | sed 's/serial [0-9]*/serial N/'
tamis sync -q out local && cmp local/a.tamis out/a.tamis && echo healed
echo "# secrets"
tamis publish -q lists secret --hash sip13; echo $?; ls secret
echo "# keys of another form: what was forgotten is not published"
mkdir names && printf '%s\n' Evil.example >names/a.txt
tamis publish -q names forms --canon domain && cp -r forms forms.before
for form in "" "--canon lower" "--canon domain --keys utf16" "--canon domain --field 1,2"; do
    tamis publish -q names forms $form; echo $?
done
diff -r forms forms.before && echo "as it was"
tamis publish -q names forms --canon domain; echo $?
tamis publish -q names forms --force; echo $?
echo evil.example | tamis check -c forms/a.tamis
tamis publish -q names forms --canon domain; echo $?
tamis publish -q names pairs -t, --field 1- && tamis publish -q names pairs -t, --field 1; echo $?
