# SPDX-License-Identifier: MIT
# No keys at all make a filter that says no to everything.
tamis build -q empty.tamis
seq 1 100 | tamis check empty.tamis
echo $?
tamis info --json empty.tamis | grep -o '"bits_per_key": [a-z]*'
