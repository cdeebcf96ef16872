# SPDX-License-Identifier: MIT
# A bar on a terminal, after a second, and gone at the end; none in a pipe, with -q or --no-progress.
if ! script -qec true /dev/null >/dev/null 2>&1; then echo "no script(1), or no pseudo-terminal that it could open"; exit 77; fi
echo ant | tamis build -q set.tamis
mkfifo fifo
: >screen
script -qfec "tamis check -c set.tamis fifo" screen </dev/null >/dev/null 2>&1 &
exec 3>fifo
printf '%s\n' ant bee ant >&3
while ! grep -q '3 lines' screen; do sleep 0.01; done
exec 3>&-
wait $!
# What a terminal shows in the end: the line is wiped before the number.
tr '\r' '\n' <screen | sed -n 's/^\(check  3 lines\)  [0-9]* lines\/s  [0-9]*:[0-9][0-9] *$/\1/p' | sort -u
tr '\r' '\n' <screen | grep -x 2
# A second and a bit without work, and nothing is drawn.
late() { printf 'bee\n'; sleep 1.3; }
late | tamis check -v set.tamis >pipe 2>&1 &
for option in -q --no-progress; do
    late | script -qec "tamis check $option -v set.tamis - <&4 2>&1 >/dev/null" "screen$option" 4<&0 </dev/null >/dev/null 2>&1 &
done
wait
cat pipe
for option in -q --no-progress; do grep -c lines/s "screen$option" | sed "s/^/$option: /"; done
