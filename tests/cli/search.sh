# SPDX-License-Identifier: MIT
# Prints are searched by similarity, for the nearest, and for what contains them.
theirs=$(dirname "$0")/../vectors/fps
cp "$theirs/maccs.fps" all.fps
tamis convert -q all.fps all.tamis --from fps
tamis convert all.tamis back.fps --to fps -q && cmp all.fps back.fps
(grep '^#' all.fps; grep -e '	ethanol$' -e '	m23$' all.fps) >some.fps
echo "-- at least 0.7, most similar first"
tamis search all.tamis some.fps
echo "-- at least so similar"
tamis search all.tamis some.fps --min-similarity 0.34 -q
tamis search all.tamis some.fps --min-similarity 85% -q
tamis search all.tamis some.fps --min-similarity 1 -q
echo "-- the nearest"
tamis search all.tamis some.fps --top 3
tamis search all.tamis some.fps --top 3 --min-similarity 0.8 -q
echo "-- what may contain it"
grep ethanol all.fps | tamis search all.tamis --screen | head -n 4
echo "-- 7 of 10 bits are 0.7, however that is written"
printf '%s\n' 'ff03	ten' 'ff07	eleven' >ten.fps
for least in 0.7 .7 70% 7/10 0.70; do echo 7f00 | tamis search --from fps ten.fps -q --min-similarity $least; done
echo 7f00 | tamis search --from fps ten.fps --min-similarity 0.7000001
echo "exit $?"
echo "-- FPS files as they are, compressed, from pipes, several, on threads"
gzip -c all.fps >all.fps.gz
tamis search --from fps all.fps.gz some.fps --top 2 -q >one
tamis search all.tamis - --top 2 -q <some.fps | cmp one -
for threads in 1 2 7 0; do tamis search all.tamis all.fps some.fps --min-similarity 0.5 -T $threads >t$threads 2>e$threads; done
wc -l <t1 && cat e1
for threads in 2 7 0; do cmp t1 t$threads && cmp e1 e$threads; done
echo "-- as JSON"
tamis search all.tamis some.fps --top 1 --json 2>/dev/null
echo "-- nothing is an answer, and so is no print at all"
echo 000000000000000000000000000000000000000000 | tamis search all.tamis
echo "exit $?"
echo '#num_bits=166' | tamis search all.tamis
echo "exit $?"
tamis create -q empty.tamis --spec fingerprint:width=166
tamis search empty.tamis some.fps --top 5
echo "exit $?"
echo "-- prints of another type are told"
sed 's/MACCS/other/' some.fps | tamis search all.tamis --top 1
