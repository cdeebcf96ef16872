# SPDX-License-Identifier: MIT
# Two ends over TCP: one listens on a port that the system chooses, one calls. IPv6 where it is there.
seq 1 5000 >here
(seq 4 5000; printf 'x\ny\n') >there
mkfifo words
# Starts a listener; $address is where.
listen() { # address, options...
    at=$1
    shift
    tamis reconcile there --listen "$at" "$@" >answer 2>words &
    exec 4<words
    read -r line <&4
    address=${line##* }
}
# Waits for it, and prints what it said besides.
finish() {
    wait $!
    echo "listener: $?"
    sed 's/; .*//; s/127.0.0.1:[0-9]*/PLACE/' <&4
    exec 4<&-
    cat answer
}
listen 127.0.0.1:0
tamis reconcile here --connect "$address" 2>err; echo $?
sed 's/; .*//' err
finish
echo "# with a key"
head -c 32 /dev/zero >my.key
if tamis reconcile here --over cat --key my.key 2>&1 | grep -q 'without libsodium'; then
    echo "< 1"; echo "< 2"; echo "< 3"; echo 1; echo "listener: 1"
else
    listen 127.0.0.1:0 --key my.key --only 2
    tamis reconcile -q here --connect "$address" --key my.key --only 1; echo $?
    finish >out
    head -n 1 out
fi
echo "# somebody else"
listen 127.0.0.1:0
if bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1"' - 1 2>&1 | grep -q 'Connection refused'; then
    bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1"; head -c 1000 /dev/zero >&3; cat <&3 >/dev/null' - "${address##*:}" 2>/dev/null
    finish
else
    kill $!
    exec 4<&-
    echo 'listener: 2'
    echo 'tamis: reconcile: PLACE: the other side is no "tamis reconcile"'
fi
echo "# nobody there"
tamis reconcile here --connect "$address" 2>&1 | sed 's/127.0.0.1:[0-9]*/PLACE/'
echo "# IPv6"
listen '[::1]:0'
case $line in
*listening*) tamis reconcile -q here --connect "$address" --only 2 ;;
*) printf 'x\ny\n' ;;
esac
wait $!
exec 4<&-
