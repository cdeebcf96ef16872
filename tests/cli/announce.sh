# SPDX-License-Identifier: MIT
# What neighbours do not know yet: when it is due, told as changes or whole, in packets, as ICP.
urls() { seq -f 'http://www.example/%g' "$1" "$2"; }
tamis create -q a.tamis --spec counting:capacity=1000,bits=96000,hashes=4,log=yes
tamis announce a.tamis -o none; echo "nothing yet: $?"
urls 1 900 | tamis add -q a.tamis
tamis announce a.tamis -o first; echo "all is new: $?"
tamis announce a.tamis -o none; echo "nothing new: $?"
urls 901 905 | tamis add -q a.tamis
tamis announce a.tamis -o none; echo "5 are new: $?"
tamis announce a.tamis -o five --threshold 0.1%; echo "above 0.1 %: $?"
urls 906 930 | tamis add -q a.tamis
urls 1 40 | tamis remove -q a.tamis
tamis announce a.tamis -o many --max-message 100; echo "25 are new: $?"
tamis announce a.tamis -o life --now; echo "a sign of life: $?"
tamis announce a.tamis -o whole --full -q; echo "everything: $?"
ls none 2>/dev/null
tamis info a.tamis | grep announced
head -c 16 first | od -An -tx1
echo "# one behind the other they are one whole"
cat first five many life | tamis neighbours -q peers --receive a -
tamis neighbours -q peers --receive b whole
tamis neighbours peers --list
urls 1 5000 >all
tamis check peers/a.tamis all >in-a; tamis check peers/b.tamis all | cmp - in-a && wc -l <in-a
echo "# for programs"
tamis announce a.tamis -o none --json; echo $?
urls 931 990 | tamis add -q a.tamis
tamis announce a.tamis -o more --json; echo $?
tamis announce a.tamis -o - --now -q | head -c 4 | od -An -tx1
echo "# as ICP"
tamis create -q i.tamis --spec icp:capacity=100,bits=9600
urls 1 3 | tamis add -q i.tamis
tamis announce i.tamis -o i.msg
urls 4 4 | tamis add -q i.tamis
tamis announce i.tamis -o i2.msg
od -An -tx1 i2.msg
