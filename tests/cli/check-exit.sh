# SPDX-License-Identifier: MIT
# Exit 0 when something was printed or counted, 1 when nothing was, 2 after an error.
printf '%s\n' ant bee >keys
echo zebra >other
tamis build -q animals.tamis keys
tamis check -q animals.tamis keys; echo $?
tamis check animals.tamis other; echo $?
tamis check -c animals.tamis other; echo $?
tamis check -q -v animals.tamis keys; echo $?
tamis check -v animals.tamis other; echo $?
tamis check animals.tamis nowhere 2>/dev/null; echo $?
tamis check -q animals.tamis keys nowhere; echo $?
