# SPDX-License-Identifier: MIT
# A kind that hashes keys itself, in every verb.
seq 1 1000 >keys
tamis build by-file.tamis keys -k guava
echo "-- counted from a pipe, twice the same"
same() { # the filter itself; an image counts adds too
    tamis convert -q by-file.tamis a.bin --to guava -f && tamis convert -q "$1" b.bin --to guava -f && cmp a.bin b.bin
}
cat keys keys | tamis build by-pipe.tamis -k guava && same by-pipe.tamis
mkfifo pipe
cat keys >pipe &
tamis build -q by-fifo.tamis -k guava pipe keys && same by-fifo.tamis
gzip -c keys | tamis build -q by-gzip.tamis -k guava && same by-gzip.tamis
printf 'a,1\nb\nc,3\n' | tamis build fields.tamis -k guava -d, --field 2
printf 'a,1\nb\nc,3\n' >table && tamis build -f fields.tamis -k guava -d, --field 2 table
tamis build -q planned.tamis -k guava -n 2000 keys
tamis build -q none.tamis -k guava </dev/null && tamis info none.tamis | grep items
printf 'short\n' | tamis build -q one.tamis -s guava:hashes=3 && tamis info one.tamis | grep spec
echo "-- asked"
printf '%s\n' 1 x 1000 y >some
tamis check by-file.tamis some
tamis check -vn by-file.tamis some
tamis check -c -T 3 by-file.tamis keys
tamis check -H by-file.tamis some
tamis check -q by-file.tamis some && echo found
printf 'q,1\nr\n' | tamis check -v -d, --field 2 by-file.tamis
tamis count by-file.tamis some
echo "-- long keys"
(head -c 9000000 /dev/zero | tr '\0' x && echo && echo short) >long
tamis build -q long.tamis -k guava -n 10 -p 1e-9 long
tamis check -c long.tamis long
tamis convert -q long.tamis long.bin --to guava
tamis check -c --from guava long.bin long
head -c 8999999 long | tamis check -c long.tamis
echo "-- changed"
tamis create -q new.tamis -k guava -n 100
printf '%s\n' a b a | tamis add --new new.tamis
printf '%s\n' c | tamis add new.tamis
printf '%s\n' a b c d | tamis check new.tamis
tamis remove new.tamis some
tamis create -q other.tamis -k guava -n 100 && echo d | tamis add -q other.tamis
tamis union new.tamis other.tamis -q -o both.tamis && printf '%s\n' a d e | tamis check both.tamis
tamis intersect new.tamis other.tamis -q -o common.tamis
tamis diff -q new.tamis both.tamis -o patch && tamis apply -q new.tamis patch -o patched.tamis && cmp both.tamis patched.tamis
tamis union new.tamis planned.tamis -o no.tamis
echo "-- told"
tamis info by-file.tamis | grep -e spec -e hash
tamis doctor by-file.tamis --members keys --probes 10000
tamis doctor by-file.tamis --members some --probes 10000 | grep ' members '
tamis plan -k guava -n 1000 | head -n 2
tamis plan -n 1000 | grep -c guava
tamis bench -k guava -n 1000 | head -n 1
tamis label new.tamis
tamis get new.tamis some
tamis fold new.tamis 2 -o no.tamis
tamis resize new.tamis -n 5 -o no.tamis
tamis tick new.tamis -o no.tamis
tamis build no.tamis keys -k guava --hash xxh64
test ! -e no.tamis
