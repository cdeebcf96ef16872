# SPDX-License-Identifier: MIT
# A label is replaced, removed or renamed: its old keys are gone, the other labels answer as before.
seq 1 2000 >all
seq 1 500 >a.txt; seq 400 900 >b.txt; seq 850 1200 >c.txt # some keys in two
tamis build -q feeds.tamis --fpr 1e-6 --label a a.txt --label b b.txt --label c c.txt
answers() { # of these labels, from their lists
    for label in "$@"; do
        tamis check --labels feeds.tamis all | awk -F '\t' -v l="$label" '("," $2 ",") ~ ("," l ",") {print $1}' |
            cmp - "$label.txt" && echo "$label as its list"
    done
}
answers a b c
echo "# replaced: in its place"
seq 1300 1550 >b.txt
tamis label feeds.tamis b b.txt --replace 2>&1 | sed 's/, [0-9.]* KiB.*//'
tamis label feeds.tamis
answers a b c
echo "# removed"
cp feeds.tamis before.tamis
tamis label feeds.tamis --remove b 2>&1 | sed 's/, [0-9.]* KiB.*//'
tamis label feeds.tamis
answers a c
tamis check -c feeds.tamis b.txt
tamis info feeds.tamis | grep labels
echo "# renamed"
tamis label feeds.tamis c --rename d 2>&1 | sed 's/, [0-9.]* KiB.*//'
mv c.txt d.txt
tamis label feeds.tamis
answers a d
tamis label -q feeds.tamis d --rename d
echo "# it survives: union, a file of its own, a pipe"
tamis label -q before.tamis --remove a -o bc.tamis
tamis union feeds.tamis bc.tamis -q -o both.tamis; tamis label both.tamis
tamis label -q - a --rename first <feeds.tamis | tamis label -
echo "# new, and nothing"
tamis label -q feeds.tamis e a.txt --replace; tamis label feeds.tamis
tamis label feeds.tamis e /dev/null --replace 2>&1 | sed 's/, [0-9.]* KiB.*//'
tamis label -q feeds.tamis --remove a --remove d --remove e; tamis label feeds.tamis; echo $?
tamis check -c feeds.tamis all
tamis label -q feeds.tamis a a.txt; answers a
echo "# --json"
tamis label --json feeds.tamis
tamis label --json feeds.tamis b b.txt --replace
tamis label --json feeds.tamis --remove a
tamis label --json -q feeds.tamis b --rename c
echo "# refused: nothing changes"
cp feeds.tamis before.tamis
tamis label feeds.tamis --remove cc; echo $?
tamis label feeds.tamis --remove c --remove nothing-like-it; echo $?
tamis label feeds.tamis c --rename ''; echo $?
tamis label feeds.tamis d --rename e; echo $?
tamis label -q feeds.tamis f a.txt -o more.tamis; tamis label more.tamis c --rename f; echo $?
tamis label feeds.tamis --rename e; echo $?
tamis label feeds.tamis --replace; echo $?
tamis label feeds.tamis c a.txt --remove c; echo $?
tamis label feeds.tamis c a.txt --rename d; echo $?
tamis label feeds.tamis c --rename d --replace; echo $?
tamis label feeds.tamis c a.txt --replace --save-every 10; echo $?
tamis label feeds.tamis c nowhere.txt --replace; echo $?
tamis label feeds.tamis c a.txt --replace -o - --json; echo $?
tamis build -q set.tamis a.txt
tamis label set.tamis --remove a; echo $?
(ulimit -f 0; trap '' XFSZ; tamis label -q feeds.tamis c a.txt --replace; echo $?) 2>&1 | cat
cmp feeds.tamis before.tamis && ls
echo "# an empty list, where that is an error"
tamis build -q strict.tamis --label a a.txt
tamis label -q strict.tamis a --replace --strict </dev/null; echo $?
tamis label -q strict.tamis b --strict </dev/null; echo $?
tamis label strict.tamis
