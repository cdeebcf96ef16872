# SPDX-License-Identifier: MIT
# --hex and --base64: the bytes are the key, however they are written.
printf '00ff\n616263\n\n' | tamis build hex.tamis --hex --keep-empty
echo "-- the image remembers"
tamis info hex.tamis | grep note
printf '616263\n 00FF\nabcd\n\n' | tamis check hex.tamis
printf 'YWJj\nAP8=\nAP8\nAP9=\n' | tamis check --base64 hex.tamis
printf 'YWJj\nAP8=\nAP8\nAAAA\n' | tamis check --base64 hex.tamis
echo "-- the same bytes as without"
printf 'abc' | tamis build -q -0 raw.tamis
printf '616263' | tamis build -q -0 same.tamis --hex
printf 'abc' | tamis check -0 same.tamis
printf '616263' | tamis check -0c same.tamis
tamis info --json raw.tamis | grep -v -e stored -e note -e file >a
tamis info --json same.tamis | grep -v -e stored -e note -e file >b
cmp a b
echo "-- what is neither"
printf '00\n0\n' | tamis add --strict hex.tamis
printf '00\n0g\n' | tamis add --strict hex.tamis --hex
printf 'x,00\nx\nx,zz\n' | tamis add --strict hex.tamis -d, --field 2
printf 'x,00\ny,0\n' | tamis add --strict hex.tamis -d, --field 2,1
printf 'YQ==\nYR==\n' | tamis build --strict no.tamis --base64
printf 'YQ==\nYQ=\n' | tamis build --strict no.tamis --base64
printf 'Y*\n' | tamis build --strict no.tamis --base64
printf 'Y*\nZ*\n' | tamis build no.tamis --base64
echo "-- not for an image of other keys, not both"
printf '00\n' | tamis check raw.tamis --hex
printf '00\n' | tamis check hex.tamis --hex --base64
test ! -e no.tamis
