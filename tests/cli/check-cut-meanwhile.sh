# SPDX-License-Identifier: MIT
# An image that is written over and cut while it is asked: answers come from what passed the gate, for
# small ones, which are read, and for large ones, which the system holds still as long as it can.
seq 1 1000 >keys
for spec in blocked:capacity=1000 blocked:capacity=1000,size=40MiB; do
    tamis build -q -f a.tamis keys --spec "$spec"
    mkfifo in out
    tamis check a.tamis <in >out &
    exec 3>in 4<out
    echo 1 >&3
    read -r first <&4 # so it is open by now
    dd if=/dev/zero of=a.tamis bs=1024 count=64 conv=notrunc 2>/dev/null
    : >a.tamis
    { seq 2 500; seq 5001 5500; } >&3
    exec 3>&-
    echo "$first, then $(wc -l <&4)"
    wait $!
    echo $?
    exec 4<&-
    rm in out
done
