# SPDX-License-Identifier: MIT
# Files that grow, are rotated, cut and made later; an image that is replaced, and a broken one. Each
# step waits for what watch says or prints about the one before; --poll 1h leaves it to notices.
if [ "$(uname)" != Linux ]; then echo "the system gives no notices" && exit 77; fi
printf '%s\n' ant bee >first
printf '%s\n' cat dog emu >second
tamis build -q set.tamis first
tamis build -q other.tamis second
printf '%s\n' ant old >a.log
mkfifo out said
# In the background. Signals go to the command itself: timeout, not back from its fork, ends by them.
limited() { exec timeout --foreground 60 sh -c 'echo $$ >pid; exec tamis "$@"' tamis "$@"; }
limited watch --poll 1h set.tamis a.log b.log >out 2>said &
exec 3<out 4<said
hear() { read -r line <&4 && echo "  $line"; }
see() { read -r line <&3 && echo "$line"; }

echo "# starts at the end of what is there"
hear; hear
echo bee >>a.log; see
printf 'be' >>a.log
printf 'e\nfox\n' >>a.log; see
echo "# a file appears"
printf 'ant\ngnu\n' >b.log; hear; see
echo "# rotated: the rest of the old file first, also a line without an end"
printf 'ant\nbee' >>b.log; mv b.log b.old; see; hear
echo bee >b.new; echo ant >>b.new; mv b.new b.log; see; hear; see; see
echo "# truncated"
: >a.log; hear
echo ant >>a.log; see
echo "# another image"
cp other.tamis new && mv new set.tamis; hear
printf '%s\n' ant emu >>a.log; see
echo "# a damaged one, and none"
head -c 100 other.tamis >new && mv new set.tamis; hear; hear
printf '%s\n' ant dog >>a.log; see
rm set.tamis; hear
echo cat >>a.log; see
tamis build -q new first && mv new set.tamis; hear
printf '%s\n' emu bee >>b.log; see
echo "# a signal ends it"
kill -TERM "$(cat pid)"
wait $!; echo $?
cat <&3 && cat <&4
