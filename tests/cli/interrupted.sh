# SPDX-License-Identifier: MIT
# Ctrl-C ends every verb with 130; images stay as they were, and nothing is left beside them.
if ! env --default-signal=INT true 2>/dev/null; then echo "no env --default-signal"; exit 77; fi
seq 1 100 | tamis build -q set.tamis --kind counting
seq 1 100 | tamis build -q map.tamis --spec bloomier:update=yes,value=8
seq 1 100 | tamis build -q labels.tamis --kind labels
seq 1 100 | tamis build -q recent.tamis --kind window -n 100
cksum ./*.tamis >before
mkfifo fifo
# A shell lets its background jobs ignore SIGINT, and env undoes that.
interrupt() {
    echo "-- $*"
    env --default-signal=INT tamis "$@" >out 2>&1 &
    exec 3>fifo # goes on as soon as the verb reads
    kill -INT $!
    wait $! 2>/dev/null
    echo $?
    exec 3>&-
    cat out
}
interrupt build new.tamis fifo
interrupt add set.tamis fifo
interrupt add --new set.tamis fifo
interrupt remove set.tamis fifo
interrupt check set.tamis fifo
interrupt count set.tamis fifo
interrupt get map.tamis fifo
interrupt put map.tamis fifo
interrupt label labels.tamis new fifo
interrupt info fifo
interrupt doctor fifo
interrupt union set.tamis fifo -o new.tamis
interrupt intersect set.tamis fifo -o new.tamis
interrupt fold fifo 2 -o new.tamis
interrupt resize fifo -n 1000 -o new.tamis
interrupt tick fifo -o new.tamis
interrupt get-data fifo
interrupt set-data fifo -o new.tamis
interrupt bench fifo
interrupt reconcile fifo before
interrupt reconcile --write-stream fifo -o new.tell
rm out
cksum ./*.tamis | cmp - before
ls
