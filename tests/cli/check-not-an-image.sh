# SPDX-License-Identifier: MIT
# What is no image is refused, whatever it is.
seq 1 100 >text
tamis build -q image.tamis text
tamis check text text; echo $?
mkdir nothing; tamis check nothing text; echo $?
tamis check nowhere.tamis text; echo $?
tamis check /dev/null text; echo $?
head -c 200 image.tamis >short.tamis
tamis check short.tamis text 2>&1 | sed 's/damaged.*/damaged/'
tr '\000' '\001' <image.tamis >flipped.tamis
tamis check flipped.tamis text 2>/dev/null; echo $?
