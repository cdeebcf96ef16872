# SPDX-License-Identifier: MIT
# --keys: which bytes a key becomes. The image remembers it.
bytes() { # encoding, text: what the text becomes, by an image that knows hex
    printf '%s\n' "$2" | tamis build -qf one.tamis --keys "$1" && tamis info one.tamis | grep note
    printf '%s\n' "$3" | tamis check -c one.tamis --hex
}
bytes utf8 café 636166c3a9
bytes bytes café 636166c3a9
bytes utf16 café 630061006600e900
bytes utf16be café 00630061006600e9
bytes int32 -2 feffffff
bytes int32be 258 00000102
bytes int64 258 0201000000000000
bytes int64be -2 fffffffffffffffe
bytes uint32 4294967295 ffffffff
bytes uint64be 18446744073709551615 ffffffffffffffff
bytes float 0.1 cdcccc3d
bytes double 0.1 9a9999999999b93f
bytes doublebe -inf fff0000000000000
bytes uuid 123e4567-e89b-12d3-a456-426614174000 123e4567e89b12d3a456426614174000
bytes hex 00ff 00ff
bytes base64 AP8 00ff
echo "-- in fields, and in every spelling"
printf 'a,1\nb, 2\nc,\n' >table.csv
tamis build -q ids.tamis table.csv -d, --field 2 --keys int64 --strict --keep-empty
head -n 2 table.csv | tamis build -q ids.tamis -d, --field 2 --keys int64
printf '1\n+2\n3\n' | tamis check ids.tamis
printf 'ABC\n' | tamis build -q wide.tamis --keys utf16 --canon lower
printf 'abc\nabd\n' | tamis check wide.tamis
printf '%s\n' 610062006300 | tamis check --hex --canon lower wide.tamis
echo "-- remembered, and refused"
printf '1\n' | tamis check ids.tamis --keys int32
printf '1\n' | tamis check ids.tamis --keys int64
printf '0100000000000000\n' | tamis check ids.tamis --keys hex
printf '1\n' | tamis build -q plain.tamis
printf '1\n' | tamis check plain.tamis --keys int64
printf '1\n' | tamis check plain.tamis --keys utf8
printf '\377\n' | tamis check plain.tamis --keys utf8
printf '1\n2147483648\n' | tamis build --strict no.tamis --keys int32
printf '1\n' | tamis build no.tamis --keys int33
printf '1\n' | tamis build no.tamis --keys int32 --hex
printf '1\n' | tamis build -q narrow.tamis --keys int32 --spec blocked:capacity=2
tamis union ids.tamis narrow.tamis -o no.tamis
tamis create -q later.tamis --keys uuid
printf '%s\n' 123e4567e89b12d3a456426614174000 | tamis add -q later.tamis
printf '%s\n' 123E4567-E89B-12D3-A456-426614174000 | tamis check later.tamis
printf 'x\ny\n1\n' | tamis uniq -q --keys bytes
test ! -e no.tamis
