# SPDX-License-Identifier: MIT
# What watch reads, when it ends, and what it refuses.
printf '%s\n' ant bee >keys
tamis build -q set.tamis keys
printf '%s\n' ant cat bee 'cat	ant' >a.log
watch() { timeout --foreground 60 tamis watch "$@"; echo $?; }

echo "# from the start, as many as wanted"
watch --from-start -m 2 set.tamis a.log
watch --from-start -nm 2 set.tamis a.log
watch --from-start -vm 2 set.tamis a.log
watch --from-start -m 1 --field 2 set.tamis a.log
watch -m 0 set.tamis a.log
echo "# pipes and standard input have an end"
cat a.log | watch set.tamis
cat a.log | watch set.tamis -
printf 'cat\nant' | watch set.tamis
watch set.tamis <a.log
printf 'cat\n' | watch set.tamis
printf '\357\273\277ant\n' >mark.log
watch --from-start -m 1 set.tamis mark.log
mkfifo pipe
cat a.log >pipe & watch -H set.tamis pipe; wait $!
echo "# a line that is too long is skipped, and one that is long is not"
{ head -c 5000000 /dev/zero | tr '\0' x; echo; head -c 3000000 /dev/zero | tr '\0' x; echo; echo ant; } >long.log
watch --from-start -nm 1 set.tamis long.log
watch --from-start -vm 1 set.tamis long.log | wc -c
echo "# lines without a field are told at the end"
printf 'a\tb\nc\n' | watch --field 2 set.tamis

echo "# objects, and words between blanks"
printf '%s\n' '{"key":"ant"}' '{"key":"cat"}' | watch --jsonl key set.tamis
printf '  cat   ant\n' | watch --whitespace --field 2 set.tamis

echo "# refused"
gzip -c a.log >a.gz
watch set.tamis a.gz
echo cat | watch set.tamis - .
echo cat | watch set.tamis - set.tamis
cat a.log | watch set.tamis a.gz -
watch nowhere.tamis a.log
watch a.log a.log
watch set.tamis a.log --csv --field 1
watch set.tamis a.log --field name
watch set.tamis a.log --poll 0
watch set.tamis a.log --poll 2d
watch set.tamis a.log -c
