# SPDX-License-Identifier: MIT
# Where no line is a key, the first of them shows what may have been forgotten.
echo evil.example | tamis build -q d.tamis --canon domain
printf '09:00 10.0.0.7 www.evil.example\n' | tamis check -c d.tamis
printf 'a,"b",c\n' | tamis check -c d.tamis
printf '{"name":"evil.example"}\n' | tamis check -c d.tamis
printf '{"name":"a b"}\n' | tamis check -c d.tamis --jsonl name
printf 'a;b\tc d\n' | tamis check -c d.tamis --field 2
printf '<p>a b</p>\n' | tamis check -c d.tamis
printf 'a b\nevil.example\n' | tamis check -c d.tamis
echo "-- comments: those that are keys, and those that cannot be"
printf '# a feed\nevil.example\n#\n' | tamis build x.tamis --canon domain
printf '# a feed\nevil.example\n#\n' | tamis build -f x.tamis
printf '# a feed\nevil.example\n#\n' | tamis build -f x.tamis --canon domain --comment '#'
printf '#evil.example\n' | tamis build -f x.tamis --canon domain --comment ';'
