# SPDX-License-Identifier: MIT
# Nothing is written when a file of keys cannot be read.
echo key >keys
tamis build image.tamis keys nowhere
echo $?
tamis build image.tamis -n 10 keys .
echo $?
ls
