# SPDX-License-Identifier: MIT
# Keys of some mebibytes are rewritten, larger ones only if they can be taken as they lie.
line() { head -c "$1" /dev/zero | tr '\0' "$2"; }
{ line 5000000 A && echo && line 9000000 b && echo; } >long.txt
tamis build -q low.tamis --canon lower long.txt
{ line 5000000 a && echo && line 9000000 B && echo && line 9000001 b && echo; } |
    tamis check low.tamis | wc -c
echo "-- a field of a long line"
{ printf 'x,' && line 6000000 A && printf ',y,Key\n'; } >fields.txt
tamis build -q f.tamis -d, --field 4 fields.txt
echo Key | tamis check f.tamis
tamis build -q g.tamis -d, --field 2 fields.txt
line 6000000 A | tamis check -c g.tamis
tamis build -q h.tamis -d, --field 4,1-2 fields.txt
{ printf 'Key,x,' && line 6000000 A; } | tamis check -c h.tamis
tamis build i.tamis -d, --field 5 fields.txt; echo $?
echo "-- blanks are cut off where they are"
{ printf '  ' && line 20000000 c && printf ' \n'; } | tamis build -q t.tamis --canon trim
line 20000000 c | tamis check -c t.tamis
echo "-- too long to be rewritten"
{ echo ok && line 17000000 c; } | tamis build --strict x.tamis --canon lower
{ echo ok && line 17000000 c; } | tamis check low.tamis
{ printf 'a,' && line 17000000 c && printf ',b\n'; } | tamis build --strict x.tamis -d, --field 2,1
test ! -e x.tamis
