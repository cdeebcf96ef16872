# SPDX-License-Identifier: MIT
# What a list is, is seen by its content: compressed, UTF-16, with a byte-order mark; what is no
# list is refused by name.
tamis --version | grep -q 'input: gzip, zstd, xz, bzip2' || { echo "built without a library" && exit 77; }
for tool in xz bzip2 zstd iconv; do
    command -v $tool >/dev/null || { echo "there is no $tool" && exit 77; }
done
seq 1 300000 >numbers.txt
tamis build -q plain.tamis numbers.txt
xz -0 -c numbers.txt >numbers.xz
bzip2 -1 -c numbers.txt >numbers.bz2
for file in numbers.xz numbers.bz2; do
    tamis build -qf x.tamis $file && cmp plain.tamis x.tamis && echo "the same image"
    cat $file | tamis check -c -T2 plain.tamis
done
echo "-- several parts, empty ones, padding"
{ printf 'a\nb' | xz && xz </dev/null && printf 'c\nd\n' | xz && head -c 4096 /dev/zero; } >parts.xz
{ printf 'a\nb' | bzip2 && bzip2 </dev/null && printf 'c\nd\n' | bzip2; } >parts.bz2
tamis check -v plain.tamis parts.xz parts.bz2
echo "-- byte-order marks and UTF-16"
printf '\357\273\2771\n2\n' >mark.txt
printf '\377\376' >little.txt && printf '\376\377' >big.txt
printf '1234\r\nstra\303\237e\n\360\237\230\200\n' | iconv -f UTF-8 -t UTF-16LE >>little.txt
printf '1234\r\nstra\303\237e\n\360\237\230\200\n' | iconv -f UTF-8 -t UTF-16BE >>big.txt
tail -c +3 little.txt >unmarked.txt
tamis build -q text.tamis little.txt
printf '1234\nstra\303\237e\n\360\237\230\200\n' | tamis check -c text.tamis
for file in little.txt big.txt unmarked.txt; do tamis check text.tamis $file | od -An -c; done
tamis check plain.tamis mark.txt
{ printf '\357\273\277' && printf '1\n'; } | tamis check plain.tamis
printf '\357\273\277' | tamis check plain.tamis
printf 'a\0b\0c\0d\0' | tamis check -0v plain.tamis | od -An -c
echo "-- a block ends anywhere in a character"
i=0 && while [ $i -lt 40 ]; do printf '%s\342\202\254' "$(printf '%*s' $i '')" && i=$((i + 1)); done >row
i=0 && while [ $i -lt 300 ]; do cat row && echo $i && i=$((i + 1)); done >euros.txt
{ printf '\377\376' && iconv -f UTF-8 -t UTF-16LE euros.txt; } >euros.utf16
tamis build -q euros.tamis euros.txt
tamis check euros.tamis euros.utf16 | cmp - euros.txt
echo "-- not lists"
tamis diff -q text.tamis plain.tamis -o x.patch 2>/dev/null || tamis diff -q plain.tamis plain.tamis -o x.patch
printf 'PAR1\25\0' >x.parquet
printf 'PK\3\4xx' >x.zip
printf 'SQLite format 3\0' >x.db
printf '\377\376\0\330a\0' >half.txt
printf '\377\376a\0b' >odd.txt
printf '\377\376a\0\75\330' >pair.txt
for file in plain.tamis x.patch x.parquet x.zip x.db half.txt odd.txt pair.txt; do
    tamis build new.tamis $file
    tamis check -c plain.tamis $file
    test ! -e new.tamis || echo "written"
done
echo "-- text that only starts like one of them"
printf 'PAR1\nBZh9\nPK\n7z\n' | tamis check -v plain.tamis
tamis check -c --decompress never plain.tamis x.zip
echo "-- damaged, truncated, too much of it"
head -c 1000 numbers.xz >early.xz
head -c 1000 numbers.bz2 >early.bz2
{ cat numbers.xz && echo more; } >more.xz
{ cat numbers.bz2 && echo more; } >more.bz2
{ head -c 700 numbers.xz && printf 'XXXX' && tail -c +705 numbers.xz; } >damaged.xz
{ head -c 700 numbers.bz2 && printf 'XXXX' && tail -c +705 numbers.bz2; } >damaged.bz2
for file in early.xz early.bz2 more.xz more.bz2 damaged.xz damaged.bz2; do
    tamis build new.tamis $file
    test ! -e new.tamis || echo "written"
done
echo "-- bombs"
line=$(head -c 1000 /dev/zero | tr '\0' x)
yes "$line" | head -c 120000000 | xz -0 >part.xz
cat part.xz part.xz part.xz part.xz part.xz part.xz part.xz part.xz part.xz part.xz >lines.xz
tamis check -c plain.tamis lines.xz; echo $?
head -c 67108864 /dev/zero | gzip -1 >part.gz
i=0 && while [ $i -lt 17 ]; do cat part.gz && i=$((i + 1)); done >line.gz
tamis check -c plain.tamis line.gz; echo $?
