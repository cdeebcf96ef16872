# SPDX-License-Identifier: MIT
# Lines that end just before, at and behind the end of a block of 128 KiB, and ones that no block
# holds: each is found, printed whole and counted once, however many threads there are.
line() { # length, last letter
    head -c "$1" /dev/zero | tr '\0' x
    printf '%s\n' "$2"
}
for len in 131069 131070 131071 131072 262142 262143 262144 400000 5000000; do
    line $len a
    echo "short $len"
    echo
done >lines.txt
tamis build -q set.tamis --keep-empty lines.txt
for options in "" "-T 2" "-T 5"; do
    tamis check $options set.tamis lines.txt | cmp - lines.txt && echo "all, with $options"
    cat lines.txt | tamis check $options -n set.tamis | sed 's/:.*//' | tr '\n' ' '
    cat lines.txt | tamis check $options -n set.tamis | sed 's/^[0-9]*://' | cmp - lines.txt && echo same
done
{ line 5000000 b && line 400000 b && line 131071 b; } | tamis check -c set.tamis
printf %s "$(line 5000000 a)" | tamis check -c set.tamis # without its newline
printf '\n\n\n' | tamis check -c set.tamis
