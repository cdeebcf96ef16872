# SPDX-License-Identifier: MIT
# Lines that come again need no room, and the summary tells both numbers.
{ seq 1 1000; seq 1 500; } >keys
tamis build image.tamis keys 2>&1 | sed 's/, [0-9.]* KiB.*//'
tamis info image.tamis | grep -e 'capacity  ' -e 'items  ' | sed 's/,* about.*//'
yes key | head -n 100000 | tamis build one.tamis 2>&1 | sed 's/, [0-9]* B.*//'
