# SPDX-License-Identifier: MIT
# -q stops at the first line that would be printed, also in an endless stream.
echo ant | tamis build -q animals.tamis
yes ant | tamis check -q animals.tamis
echo $?
