# SPDX-License-Identifier: MIT
# A spec beside options that say parts of it: nothing is overridden silently.
tamis build image.tamis --spec 'blocked:fpr=1%' --capacity 5
echo $?
tamis build image.tamis --spec blocked --kind classic
echo $?
tamis build image.tamis --spec 'blocked:colour=red'
echo $?
ls
