# SPDX-License-Identifier: MIT
# gzip and zstd by their content, from files and from pipes.
tamis --version | grep -q 'input: gzip, zstd' || { echo "built without zlib or zstd" && exit 77; }
command -v zstd >/dev/null || { echo "there is no zstd" && exit 77; }
seq 1 300000 >numbers.txt
gzip -c numbers.txt >numbers.gz
zstd -qc numbers.txt >numbers.zst
tamis build -q plain.tamis numbers.txt
tamis build -q gz.tamis numbers.gz
zstd -qc numbers.txt | tamis build -q zst.tamis
cmp plain.tamis gz.tamis && cmp plain.tamis zst.tamis && echo "the same image"
tamis check -Hc plain.tamis numbers.txt numbers.gz numbers.zst
tamis check -T3 plain.tamis <numbers.gz | cmp - numbers.txt
echo "-- parts behind each other, some of them empty, and padding"
{ printf 'a\nb' | gzip && gzip </dev/null && printf 'c\nd\n' | gzip && head -c 300000 /dev/zero; } >parts.gz
{ printf 'a\nb' | zstd -q && zstd -q </dev/null && printf '\120\052\115\030\003\0\0\0abc' && printf 'c\nd\n' | zstd -q; } >parts.zst
{ printf '\137\052\115\030\002\0\0\0ab' && printf 'z\n' | zstd -q; } >skipped.zst
gzip </dev/null >empty.gz
tamis check -v plain.tamis parts.gz parts.zst skipped.zst empty.gz
echo "-- what only begins like it, and what is not read so"
printf '\037' | tamis check -v plain.tamis | od -An -c
printf '\037\213' | tamis check -v plain.tamis | od -An -c
printf '(\265/' | tamis check -v plain.tamis | od -An -c
printf '\037\213x\n' | tamis check -v plain.tamis | od -An -c
gzip -nc </dev/null | tamis check -v --decompress never plain.tamis | od -An -tx1
echo 1 | tamis check --decompress auto plain.tamis
echo 1 | tamis check --decompress always plain.tamis
echo "-- slowly, through a pipe"
{ head -c 2 numbers.gz && tail -c +3 numbers.gz; } | tamis check -c plain.tamis
echo "-- a second look at compressed keys"
printf 'x\t1\ny\t2\nx\t3\n' | gzip >map.gz
tamis build map.tamis --values map.gz
tamis build map.tamis --values <map.gz
echo "-- labels are named after what is inside"
cp map.gz spam.txt.gz && cp map.gz ham.zst && cp map.gz .gz
tamis build -q -k labels labels.tamis spam.txt.gz ham.zst .gz && tamis label labels.tamis
