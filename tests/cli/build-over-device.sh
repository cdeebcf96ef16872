# SPDX-License-Identifier: MIT
# Only regular files are replaced, even with --force.
mkdir folder
mkfifo fifo
echo key | tamis build --force folder
echo $?
echo key | tamis build --force fifo
echo $?
echo key | tamis build --force nowhere/image
echo $?
ls
