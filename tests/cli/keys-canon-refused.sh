# SPDX-License-Identifier: MIT
# Another form than the image's is refused, and so is one that nobody knows.
echo a | tamis build -q raw.tamis -n 100
echo a | tamis build -q low.tamis -n 100 --canon lower
echo a | tamis build -q trim.tamis -n 100 --canon trim
echo 61 | tamis build -q hex.tamis -n 100 --hex
echo YQ | tamis build -q base64.tamis -n 100 --base64
for verb in check add; do
    echo a | tamis $verb raw.tamis --canon lower
    echo a | tamis $verb low.tamis --canon upper
    echo a | tamis $verb low.tamis --canon lower,trim
    echo a | tamis $verb low.tamis --hex
done
echo a | tamis check low.tamis --canon lower,Trim
echo a | tamis build x.tamis --canon ''
echo a | tamis build x.tamis --note canon=lower
echo a | tamis build x.tamis --note encoding=hex
echo "-- sets of different things"
tamis union low.tamis raw.tamis -o u.tamis
tamis intersect low.tamis trim.tamis -o u.tamis
tamis union hex.tamis raw.tamis -o u.tamis
test ! -e u.tamis && test ! -e x.tamis
tamis union -q hex.tamis base64.tamis -o u.tamis && tamis info u.tamis | grep note
echo "-- who knows what an image from elsewhere has may say so"
tamis add -q raw.tamis --note encoding=hex </dev/null && echo 61 | tamis check raw.tamis
tamis add raw.tamis --note canon=lowercase </dev/null
tamis add raw.tamis --note encoding=base32 </dev/null
test ! -e x.tamis
