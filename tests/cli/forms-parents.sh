# SPDX-License-Identifier: MIT
# --canon domain,parents: a name is in the set when it or a parent of it is listed.
cat >list <<'END'
evil.com
*.bad.co.uk
||tracker.net^$third-party
github.io
hxxp://www[.]phish[.]example/login
192.0.2.1
zip
END
cat >asked <<'END'
evil.com
www.evil.com
a.b.c.evil.com
notevil.com
com
bad.co.uk
x.bad.co.uk
co.uk
other.co.uk
ads.tracker.net
somebody.github.io
www.phish.example
a.www.phish.example
phish.example
192.0.2.1
1.192.0.2.1
http://192.0.2.1/x
anything.zip
END
tamis build set.tamis list --canon domain,parents --fpr 1e-6
tamis info set.tamis | grep -E 'questions|note'
echo "-- in it"
tamis check set.tamis asked
echo "-- not in it"
tamis check -v set.tamis asked
echo "-- without parents only itself"
tamis build -q plain.tamis list --canon domain -p 1e-6
tamis check plain.tamis asked 2>/dev/null
echo "-- with labels, those of all names that match"
echo www.evil.com >more
tamis build -q l.tamis --label wide list --label narrow more --canon domain,parents -p 1e-6
tamis check --labels l.tamis asked 2>/dev/null | head -3
echo "-- marks are not counted as keys"
tamis label l.tamis
echo one.example | tamis label -q l.tamis few --replace
tamis label l.tamis
for i in $(seq 1 20); do echo a$i.example >$i.txt; set -- "$@" --label l$i $i.txt; done
tamis build many.tamis -p 1e-6 --canon domain,parents "$@"
tamis label many.tamis | uniq -c -w 1 | cut -c 1-10
echo www.a7.example | tamis watch many.tamis
echo "-- several sets, each with its own classes and hashes"
echo evil.com | tamis build -q one.tamis -p 1e-6 --canon domain,parents
echo www.evil.com | tamis build -q two.tamis -p 1e-6 --canon domain,parents --seed 5
echo deep.a.www.evil.com | tamis build -q three.tamis -p 1e-6 --canon domain,parents -k cuckoo
printf 'x.deep.a.www.evil.com\nwww.evil.com\na.evil.com\nother.com\n' >many
tamis check --which one.tamis two.tamis three.tamis many
tamis check --json one.tamis two.tamis many
tamis check -o one.tamis two.tamis many
tamis check --which l.tamis one.tamis many
echo "-- marks come along with sets"
for suffix in com net org; do
    echo "one.$suffix" | tamis build -q $suffix.tamis -n 100 -p 1e-6 --canon domain,parents
done
echo a.b.c.d.deep | tamis build -q deep.tamis -n 100 -p 1e-6 --canon domain,parents
tamis union -q com.tamis net.tamis deep.tamis -o u.tamis
tamis diff com.tamis u.tamis -o p.patch -q && tamis apply -q com.tamis p.patch -o patched.tamis
for image in u.tamis patched.tamis; do
    printf 'x.one.net\nx.a.b.c.d.deep\nx.one.org\n' | tamis check $image
done
echo "-- the order of steps"
for steps in parents domain,parents,lower lower,parents cidr,lower; do
    tamis build x.tamis list --canon $steps; done
tamis build x.tamis list --canon domain,parents --keys utf16
tamis add plain.tamis --note canon=cidr </dev/null
test ! -e x.tamis
