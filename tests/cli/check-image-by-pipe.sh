# SPDX-License-Identifier: MIT
# The image may come through a pipe or by redirection.
seq 1 100 >keys
tamis build -q image.tamis keys
cat image.tamis | tamis check -c - keys
tamis check -c - keys <image.tamis
mkfifo fifo
cat image.tamis >fifo &
tamis check -c fifo keys
cat image.tamis | tamis info - | head -n 1
cat keys | tamis check - keys
echo $?
