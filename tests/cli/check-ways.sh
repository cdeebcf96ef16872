# SPDX-License-Identifier: MIT
# The ways to print: numbers, names, counts, the other lines.
printf '%s\n' ant bee cat >keys
printf '%s\n' bee dog >one
printf '%s\n' ewe fox ant >two
: >three
tamis build -q animals.tamis keys
echo "# -n"; tamis check -n animals.tamis one two
echo "# -H"; tamis check -H animals.tamis one
echo "# --no-filename"; tamis check --no-filename animals.tamis one two
echo "# -nH"; tamis check -nH animals.tamis one - <two
echo "# -v"; tamis check -v animals.tamis one two
echo "# -c"; tamis check -c animals.tamis one two three
echo "# -c, no names"; tamis check -c --no-filename animals.tamis one two three
echo "# -cH"; tamis check -cH animals.tamis one
echo "# -cv"; tamis check --count --invert-match animals.tamis one two three
