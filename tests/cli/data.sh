# SPDX-License-Identifier: MIT
# A text that travels with the image: whole, or removed.
echo ant | tamis build -q set.tamis
cp set.tamis plain.tamis
tamis get-data set.tamis; echo "exit $?"
printf 'two\nlines' | tamis set-data set.tamis; echo "exit $?"
tamis get-data set.tamis && echo " and no newline"
tamis info set.tamis | grep note
tamis get-data - <set.tamis >/dev/null; echo "exit $?"
echo new | tamis set-data set.tamis -o new.tamis && tamis get-data new.tamis
tamis set-data set.tamis </dev/null && cmp set.tamis plain.tamis && echo "as it was"
echo "-- refused, and nothing is changed"
set_data() { tamis set-data "$@"; echo "exit $?"; }
printf 'a\0b' | set_data set.tamis
printf 'a\377b' | set_data set.tamis
head -c 1048577 /dev/zero | tr '\0' x | set_data set.tamis
echo x | set_data
echo x | set_data missing.tamis
echo x | set_data .
echo x | set_data set.tamis -o new.tamis
cmp set.tamis plain.tamis
printf 'junk' >junk.tamis
echo x | set_data junk.tamis
get_data() { tamis get-data "$@"; echo "exit $?"; }
get_data
get_data missing.tamis
get_data junk.tamis
get_data --frobnicate
tamis get-data new.tamis >/dev/full; echo "exit $?"
tamis get-data new.tamis >&-; echo "exit $?"
ls
