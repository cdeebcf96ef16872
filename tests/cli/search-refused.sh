# SPDX-License-Identifier: MIT
# What cannot be searched, or cannot be looked for, is told in a sentence.
printf '%s\n' '#num_bits=12' 'ff0f	a' '010a	b' >all.fps
tamis convert -q all.fps all.tamis --from fps
seq 5 | tamis build -q keys.tamis
refused() { tamis "$@" </dev/null && echo "not refused: $*"; }
refused search keys.tamis all.fps
refused search all.fps all.fps
refused search all.tamis nowhere.fps
refused search all.tamis all.tamis
refused search all.tamis all.fps --min-similarity 1.5
refused search all.tamis all.fps --min-similarity much
refused search all.tamis all.fps --min-similarity -1
refused search all.tamis all.fps --top 0
refused search all.tamis all.fps --screen --top 3
refused search all.tamis all.fps --screen --min-similarity 0.5
echo 01 >short && refused search all.tamis short
echo ff1f >stray && refused search all.tamis stray
printf 'ff0f\tx\n0f\ty\n' >uneven && refused search all.tamis uneven
printf 'ff0f x\n' >spaced && refused search all.tamis spaced
refused search --from guava all.fps all.fps
refused convert all.fps x.tamis --from guava
refused convert keys.tamis x.fps --to fps
refused union all.tamis all.tamis -o x.tamis
tamis add all.tamis all.fps 2>&1 | cut -d ';' -f 1
ls
