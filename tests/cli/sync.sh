# SPDX-License-Identifier: MIT
# Three feeds in five generations; subscribers who come every time, now and then, and once: all have what was
# published, and fetch what changed.
mkdir lists
numbers() { sed -e 's/serial [0-9]*/serial N/' -e 's/[0-9.]* KiB/N KiB/g' -e 's/[0-9]* B /N B /g'; }
generation() { # a number
    seq $((1 + $1 * 7)) $((20000 + $1 * 11)) >lists/large.txt
    [ $(($1 % 2)) = 0 ] || seq 1 $((900 + $1)) >lists/small.txt
    seq $1 3000 >lists/built.txt
}
check() { # a subscriber
    for feed in large small built; do cmp out/$feed.tamis $1/$feed.tamis || echo "$1 has another $feed"; done
    for feed in large small built; do tamis check -v $1/$feed.tamis lists/$feed.txt; done
}
for g in 1 2 3 4 5; do
    echo "# generation $g"
    generation $g
    tamis publish -q lists out
    tamis sync out always 2>&1 | numbers
    check always
    case $g in
    1) tamis sync -q out sometimes; check sometimes ;;
    5) tamis sync out sometimes 2>&1 | numbers; check sometimes
       tamis sync out once 2>&1 | numbers; check once ;;
    esac
done
echo "# again: nothing is fetched or written"
ls -i always >inodes
tamis sync out always 2>&1 | numbers
ls -i always | cmp - inodes
echo "# more generations than patches are kept: whole"
cp -r always late
for g in 6 7 8; do generation $g; tamis publish -q lists out --keep 2; done
tamis sync out late 2>&1 | numbers; check late
echo "# an image that somebody changed or removed is fetched again"
echo key | tamis add -q late/large.tamis 2>/dev/null
rm late/small.tamis
: >late/built.tamis
tamis sync out late 2>&1 | numbers; check late
echo "# a feed goes, and a new one comes"
mv lists/small.txt lists/new.txt
tamis publish -q lists out --delete
tamis sync out late 2>&1 | numbers; ls late
tamis sync out late 2>&1 | numbers
tamis sync out late --delete 2>&1 | numbers; ls late
tamis sync out late --delete 2>&1 | numbers
echo "# --json"
generation 9; mv lists/small.txt lists/new.txt
tamis publish -q lists out --delete
tamis sync out late --json | sed 's/"serial": [0-9]*/"serial": N/; s/_bytes": [0-9]*/_bytes": N/g'
tamis sync out late --json | grep -o '"change": "[a-z]*"'
