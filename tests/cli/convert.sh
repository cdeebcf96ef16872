# SPDX-License-Identifier: MIT
# Another system's filter becomes an image and goes back, byte for byte.
theirs=$(dirname "$0")/../vectors/guava
cp "$theirs/mitz64_long_n10_p0.01.bin" long.bin
cp "$theirs/mitz32_utf8_n10_p0.03.bin" words.bin
tamis convert long.bin --from guava long.tamis --keys int64
tamis info long.tamis | grep -e kind -e note
printf '%s\n' 0 1 -1 42 1099511627776 -9223372036854775808 43 | tamis check long.tamis
tamis convert long.tamis again.bin --to guava && cmp long.bin again.bin
echo "-- asked where it is"
printf '%s\n' alpha gamma café epsilon "" | tamis check --from guava words.bin
printf '%s\n' 42 43 | tamis check -v --from guava --keys int64 long.bin
printf '0000000000000000\n' | tamis check --from guava --hex long.bin
tamis info --from guava words.bin | grep -v -e size -e fpr
tamis doctor --from guava words.bin
tamis plot fill --from guava words.bin --json | head -c 60 && echo
echo "-- without --keys there is a word about it"
tamis convert words.bin --from guava words.tamis
printf '%s\n' alpha 42 | tamis check words.tamis
printf '42\n' | tamis check words.tamis --keys int32
echo "-- changed here, and back"
echo epsilon | tamis add -q words.tamis
tamis convert words.tamis - --to guava -q >more.bin
echo epsilon | tamis check --from guava more.bin
echo "-- through pipes, and compressed"
gzip -c words.bin | tamis convert -q --from guava - - | tamis info - | grep kind
gzip -c words.bin >words.gz
tamis convert words.gz --from guava x.tamis --decompress never
tamis convert words.gz --from guava x.tamis -q && tamis convert -q x.tamis x.bin --to guava && cmp x.bin words.bin
head -c 20 words.gz >cut.gz
tamis convert cut.gz --from guava y.tamis
head -c 70000000 /dev/zero | gzip >bomb.gz
tamis convert bomb.gz --from guava y.tamis --memory 1M
echo "-- an image to an image is a copy"
tamis convert long.tamis copy.tamis && cmp long.tamis copy.tamis
tamis convert long.tamis noted.tamis --note source=java -q && tamis info noted.tamis | grep note
tamis convert long.tamis json.bin --to guava --json
ls
