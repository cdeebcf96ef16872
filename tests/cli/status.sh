# SPDX-License-Identifier: MIT
# SIGUSR1 brings one line about how far the work is, also while it waits for input, and ends nothing.
echo ant | tamis build -q set.tamis
mkfifo fifo
wait_for() { # a file, how many lines in it
    while [ "$(wc -l <"$1")" -lt "$2" ]; do sleep 0.01; done
}
shorten() { sed -e 's/[0-9.]* s/N s/' -e 's/[0-9.]* [KMG]*i*B\/s/N\/s/' "$1"; }
: >words
tamis check set.tamis fifo >found 2>words &
exec 3>fifo
printf '%s\n' ant bee ant >&3
wait_for found 2
kill -USR1 $!
wait_for words 1
printf '%s\n' ant >&3
wait_for found 3
kill -USR1 $!
wait_for words 2
exec 3>&-
wait $!; echo "exit $?"
shorten words
cat found
echo "-- with -q too: it was asked for"
tamis build -q -0 other.tamis fifo 2>words &
exec 3>fifo
printf 'ant\0bee\0' >&3
# Only its own words tell that it has begun.
while [ ! -s words ]; do kill -USR1 $! 2>/dev/null; sleep 0.01; done
exec 3>&-
wait $!; echo "exit $?"
head -n 1 words | cut -d : -f 1
tamis info other.tamis | sed -n 2p
