# SPDX-License-Identifier: MIT
# What cannot be asked together is refused with a sentence, before the first line is printed.
printf '%s\n' ant bee >keys
tamis build -q a.tamis keys
tamis build -q b.tamis keys
tamis build -q lower.tamis keys --canon lower
tamis build -q hex.tamis --hex <<END
0a
END
echo "-- keys that are made otherwise"
tamis check a.tamis lower.tamis keys; echo $?
tamis check lower.tamis a.tamis keys; echo $?
tamis check a.tamis hex.tamis keys; echo $?
echo "-- an image where a list is due"
tamis check a.tamis keys b.tamis; echo $?
tamis check --image a.tamis b.tamis; echo $?
tamis check a.tamis keys nowhere.tamis b.tamis; echo $?
echo "-- standard input for two"
tamis check - b.tamis <a.tamis; echo $?
tamis check - b.tamis - <a.tamis; echo $?
tamis check --image - --image - keys <a.tamis; echo $?
tamis check --image - <a.tamis; echo $?
echo "-- nothing to ask"
mkdir empty text mixed
echo x >text/list.txt
tamis check empty keys; echo $?
tamis check text keys; echo $?
tamis check; echo $?
tamis check --image ''; echo $?
tamis check --image nowhere keys; echo $?
tamis check a.tamis empty keys; echo $?
echo "-- a damaged one among others, and a sketch"
cp a.tamis b.tamis mixed
tr '\000' '\001' <a.tamis >mixed/c.tamis
printf '\326tamis\032\n' >mixed/d.tamis
tamis check mixed keys 2>&1 | sed 's/\(c.tamis: \).*/\1.../'
rm mixed/c.tamis
tamis check mixed keys; echo $?
tamis build -q sketch.tamis keys -k minhash
tamis check a.tamis sketch.tamis keys; echo $?
echo "-- options"
for pair in '-c -o' '-c -l' '-c -L' '-c --which' '-l -L' '-l --which' '-L --which' '-l -o' '-L -o' \
    '-o -A 1' '-o -B 1' '-o -C 1' '-H --no-filename' '--json -o' '--json -l' '--json -L' \
    '--json -q' '--json -A 1' '--json -B 1' '--json -C 1' '-m x' '-A -1' '-B 1.5' '-C' \
    '-m 1 -m 2'; do
    tamis check a.tamis keys $pair; echo $?
done
