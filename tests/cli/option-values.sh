# SPDX-License-Identifier: MIT
# What an option refuses, it names, and says what would be right.
tamis build image --capacity
echo $?
tamis build image --capacity many
tamis build image --size -5
tamis build image --fpr 0
tamis build image --fpr 100%
tamis build image -n 5 -n 6
tamis build image --hash xxh3,seed=1
tamis build image --force=yes
tamis build image --kind blokced
echo $?
ls
