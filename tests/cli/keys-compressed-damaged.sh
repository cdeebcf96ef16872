# SPDX-License-Identifier: MIT
# Compressed keys that end early or are damaged: an error that names the file, and nothing is written.
tamis --version | grep -q 'input: gzip, zstd' || { echo "built without zlib or zstd" && exit 77; }
command -v zstd >/dev/null || { echo "there is no zstd" && exit 77; }
seq 1 1000 >numbers.txt
tamis build -q n.tamis numbers.txt
gzip -nc numbers.txt >whole.gz
zstd -qc numbers.txt >whole.zst
head -c 1000 whole.gz >early.gz
head -c 500 whole.zst >early.zst
head -c 3 whole.gz >start.gz
head -c 4 whole.zst >start.zst
{ cat whole.gz && head -c 20 whole.gz; } >second.gz
{ cat whole.gz && echo more; } >more.gz
{ cat whole.gz && printf '\0\0x'; } >padded.gz
{ cat whole.zst && echo more; } >more.zst
{ head -c 700 whole.gz && printf 'XXXX' && tail -c +705 whole.gz; } >damaged.gz
{ head -c 700 whole.zst && printf 'XXXX' && tail -c +705 whole.zst; } >damaged.zst
for file in early start second more padded damaged; do
    for kind in gz zst; do
        [ -e $file.$kind ] || continue
        tamis build x.tamis $file.$kind 2>&1 | sed 's/damaged: .*/damaged: .../'
        test ! -e x.tamis || echo "written"
    done
done
echo "-- check goes on with the next file"
tamis check -Hc n.tamis early.gz whole.gz | sed "s/early.gz:[0-9][0-9]*/early.gz:some/"
tamis check -Hc n.tamis second.gz whole.gz
echo $?
