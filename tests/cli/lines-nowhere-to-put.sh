# SPDX-License-Identifier: MIT
# A line that fits no block needs a file; where there is none to be had, a sentence says so.
echo ant | tamis build -q animals.tamis
head -c 300000 /dev/zero | tr '\0' x >long.txt
TMPDIR=/nowhere tamis check -c animals.tamis long.txt
echo "exit $?"
echo ant >short.txt
TMPDIR=/nowhere tamis check -H animals.tamis long.txt short.txt # the other file is still checked
echo "exit $?"
TMPDIR=/nowhere tamis add animals.tamis long.txt
echo "exit $?"
