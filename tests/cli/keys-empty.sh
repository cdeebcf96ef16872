# SPDX-License-Identifier: MIT
# Empty lines and comments of a list are no keys, which is told; an empty line can be one.
printf 'a\n\nb\n\r\n' >keys
tamis build without.tamis keys
tamis build with.tamis --keep-empty keys
for image in with without; do
    printf '\n' | tamis check -n $image.tamis
    printf 'a\n\nb\n' | tamis check -vn $image.tamis
done
printf 'a\n\n\n' | tamis check -vc without.tamis
printf 'a\n\n\n' | tamis check -vc --skip-empty without.tamis
echo "-- lines of text are not a list"
printf 'a\n\nb\n\n' | tamis uniq -q | tr '\n' '!' && echo
printf 'a\n\nb\n\n' | tamis uniq --skip-empty | tr '\n' '!' && echo
echo "-- comments"
printf '# a feed\na # the first\n  # indented\nhttp://x/#top\n\n! rule\n' >feed
tamis build -f plain.tamis feed
tamis build -f feed.tamis --comment '#' feed
printf 'a\na # again\n# a feed\nhttp://x/#top\n' | tamis check --comment '#' feed.tamis
printf '# a feed\n' | tamis check -c --comment '#' -v feed.tamis
printf '# a feed\nno\n# x\nno\n' | tamis check -vn --comment '#' feed.tamis
tamis add -q plain.tamis --comment '#' feed && tamis info plain.tamis | grep items
printf '# a\n! b\nx ! c\ny\n' | tamis build -f two.tamis --comment '#' --comment '!'
printf '// x\na // y\nb/c\n' | tamis build -f slashes.tamis --comment //
printf 'a\nb/c\n' | tamis check -c slashes.tamis
echo x | tamis build -f no.tamis --comment ''
echo "-- a list without keys"
tamis build -f none.tamis </dev/null; echo $?
printf '\n\n# x\n' | tamis build -f none.tamis --comment '#'; echo $?
tamis build -qf none.tamis </dev/null; echo $?
tamis build -f strict.tamis --strict </dev/null; echo $?
printf 'x\ny\n' | tamis build -f strict.tamis --canon ip; echo $?
printf 'x\ny\n' | tamis build -f strict.tamis --field 2; echo $?
test ! -e strict.tamis
