# SPDX-License-Identifier: MIT
# What is no delimiter and no field is refused with a sentence.
echo a | tamis build a.tamis -q
try() {
    echo "a" | tamis check a.tamis "$@"
    echo "$?"
}
for byte in '' ',,' '\n' '\x' '\xzz' 'é'; do try -d "$byte" --field 1; done
try -d,
try -d '\x0a' --field 1
try -0 -d '\0' --field 1
for list in 0 a '' '1,' 3-2 - 99999999999 1000001; do try --field "$list"; done
try --field 1000000
try --fields 1 -d '\t'
