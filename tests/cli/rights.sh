# SPDX-License-Identifier: MIT
# Who may read what is written: secrets are their owner's alone from the start, and what is replaced keeps its mode.
# Links are followed, also where nothing is at their end yet, and files of killed writers go.
seq 1 100 >keys
mode() { stat -c '%n %a' "$@"; }
for mask in 000 022 077; do
    umask $mask
    echo "-- umask $mask"
    rm -f ./*.tamis ./*.patch key key.pub
    tamis build -q plain.tamis keys
    tamis build -q secret.tamis keys --spec blocked:hash=sip13,key=inside
    tamis add -q secret.tamis keys -o more.tamis
    tamis fold -q secret.tamis 1 -o folded.tamis
    tamis diff -q secret.tamis more.tamis -o secret.patch
    tamis diff -q plain.tamis plain.tamis -o plain.patch
    tamis admit -q --image memory.tamis --hash sip13 keys >/dev/null
    mode *.tamis *.patch
    chmod 640 secret.tamis && tamis add -q secret.tamis keys && mode secret.tamis
    chmod 604 plain.tamis && tamis build -q -f plain.tamis keys && mode plain.tamis
    chmod 664 plain.patch && tamis diff -q -f plain.tamis plain.tamis -o plain.patch && mode plain.patch
done
echo "-- links"
mkdir sub
ln -s sub/far.tamis near.tamis
tamis build -q -f near.tamis keys && tamis check -c near.tamis keys
stat -c '%N' near.tamis sub/far.tamis
echo "-- files of the dead"
(exit 0) & wait $!
touch "plain.tamis.$!-0.new" plain.tamis.0123abcd.tmp "other.tamis.$!-0.new"
tamis add -q plain.tamis keys
ls | grep -c 'plain.tamis.*[wp]$'
ls | grep -c 'other.tamis'
