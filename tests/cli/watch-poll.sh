# SPDX-License-Identifier: MIT
# Where there are no notices, as for a folder that is not there yet, files are looked at now and then;
# a link may lead to another folder; and a reader that goes away ends it.
printf '%s\n' ant bee >keys
tamis build -q set.tamis keys
mkfifo out said
# In the background. Signals go to the command itself: timeout, not back from its fork, ends by them.
limited() { exec timeout --foreground 60 sh -c 'echo $$ >pid; exec tamis "$@"' tamis "$@"; }
start() { limited watch "$@" >out 2>said 3<&- 4<&- & exec 3<out 4<said; }
hear() { read -r line <&4 && echo "  $line"; }
see() { read -r line <&3 && echo "$line"; }

start --poll 10ms set.tamis later/a.log -m 1
hear; hear
mkdir later; echo ant >later/a.log; hear; see
wait $!; echo $?

echo "# a link"
mkdir other; echo bee >other/b.log; ln -s other/b.log link.log
start set.tamis link.log -n
hear
echo bee >>other/b.log; see
echo "# the start of its line was there before"
printf 'an' >>other/b.log
kill -INT "$(cat pid)"; wait $!; echo $?
start set.tamis link.log -nm 1
hear
echo t >>other/b.log; see
wait $!; echo $?

echo "# no line came"
start set.tamis link.log
hear
kill -TERM "$(cat pid)"; wait $!; echo $?

echo "# the reader goes away"
start --poll 1h set.tamis link.log
hear
exec 3<&-
wait $!; echo $?
