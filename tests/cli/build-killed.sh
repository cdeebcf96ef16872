# SPDX-License-Identifier: MIT
# A build that is killed leaves nothing behind, not even what did not fit into memory.
mkfifo fifo
tamis build image.tamis fifo &
exec 3>fifo # goes on as soon as the other side has opened it
echo key >&3
kill -TERM $!
wait $! 2>/dev/null
echo $?
ls
ls "$TMPDIR"
