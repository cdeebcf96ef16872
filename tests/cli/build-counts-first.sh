# SPDX-License-Identifier: MIT
# Without a capacity the keys are counted, wherever they come from.
seq 1 5000 >keys
tamis build -q by-name.tamis keys
tamis build -q by-redirection.tamis <keys
cat keys | tamis build -q by-pipe.tamis
cat keys | tamis build -q by-dash.tamis -
mkfifo fifo
cat keys >fifo &
tamis build -q by-fifo.tamis fifo
wait
for image in by-*.tamis; do cmp by-name.tamis "$image" && echo "$image"; done
tamis info by-pipe.tamis | grep -E 'capacity  |items' | sed 's/,* about.*//'
tamis check -c by-pipe.tamis keys
ls "$TMPDIR"
