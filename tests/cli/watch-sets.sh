# SPDX-License-Identifier: MIT
# Several images, and a directory of them that changes; what check prints about lines, watch does too.
if [ "$(uname)" != Linux ]; then echo "the system gives no notices" && exit 77; fi
mkdir feeds
echo ant | tamis build -q feeds/spam.tamis
echo bee | tamis build -q feeds/bad.tamis
printf '%s\n' bee cat | tamis build -q more.tamis --seed 7
echo dog | tamis build -q spam.tamis
printf '%s\n' ant bee cat >a.log
printf '%s\n' cat bee >b.log

watch() { timeout --foreground 60 tamis watch --from-start "$@"; echo $?; }
watch -m 3 feeds a.log b.log 2>&1
watch -m 1 -o --field 1 -d a more.tamis feeds - <a.log 2>&1
watch -m 2 --which feeds/spam.tamis more.tamis a.log 2>&1
watch -m 1 --json --image more.tamis --image feeds a.log 2>&1
watch -q feeds a.log
echo cat | watch -q feeds

mkfifo out said
# In the background. Signals go to the command itself: timeout, not back from its fork, ends by them.
limited() { exec timeout --foreground 60 sh -c 'echo $$ >pid; exec tamis "$@"' tamis "$@"; }
limited watch --poll 1h --which feeds a.log b.log >out 2>said &
exec 3<out 4<said
see() { read -r line <&3 && echo "$line"; }
hear() { # until it says this
    while read -r line <&4; do case $line in *"$1"*) echo "  $line" && break ;; esac; done
}
hear watching
echo ant >>a.log; see
echo "# one is added"
mv more.tamis feeds/more.tamis; hear '3 images'
echo bee >>b.log; see
echo "# one is replaced; what sync writes beside it is no news"
: >feeds/tamis.sync; mv spam.tamis feeds/spam.tamis; hear reloaded
printf '%s\n' ant dog >>a.log; see
echo "# one is removed"
rm feeds/bad.tamis; hear '2 images'
echo bee >>b.log; see
echo "# all are"
rm feeds/spam.tamis; hear '1 image'
rm feeds/more.tamis; hear 'not reloaded'
echo bee >>b.log; see
kill -TERM "$(cat pid)"; wait $!; echo $?

echo "# an image with another form of keys"
echo evil.example | tamis build -q names.tamis --canon domain,parents
printf '%s\n' ant EVIL.example | tamis build -q new
: >c.log
limited watch --poll 1h --which names.tamis c.log >out 2>said 3<&- 4<&- &
exec 3<out 4<said
hear watching
echo WWW.evil.example >>c.log; see
cp new next; mv next names.tamis; hear reloaded
printf '%s\n' www.evil.example evil.example EVIL.example >>c.log; see
echo evil.example | tamis build -q new -f --canon domain,parents
mv new names.tamis; hear reloaded
printf '%s\n' ant a.b.evil.example >>c.log; see
kill -TERM "$(cat pid)"; wait $!; echo $?
