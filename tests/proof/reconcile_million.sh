#!/bin/bash
# SPDX-License-Identifier: MIT
# Two sets of a million keys that differ in 1, 10, 1,000 and 10^5: the list is what comm finds, here, by
# two ends over a pipe, by a stream in a file and by a sketch. Bytes stand beside the least possible.
cd "$(dirname "$0")/../.." || exit 2
tamis=$PWD/${B:-build}/tamis
make -s "${B:-build}/tamis" >&2 || exit 1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C PATH=$work:$PATH
ln -s "$tamis" tamis
n=${SHORT:+100000}
n=${n:-1000000}
number=0

check() { # what it is, the list
    number=$((number + 1))
    if sort "$2" | cmp -s - wanted; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
    fi
}

seq -f 'key %.0f' 1 "$n" | sort >a
for d in 1 10 1000 $((n / 10)); do
    # Half of the differences on either side.
    (seq -f 'key %.0f' $((d / 2 + 1)) "$n"; seq -f 'new %.0f' 1 $((d - d / 2))) | sort >b
    (comm -23 a b | sed 's/^/< /'; comm -13 a b | sed 's/^/> /') | sort >wanted

    tamis reconcile a b --json >list 2>words
    check "$d of $n differ, here" list
    echo "# $(tr -d '{}"' <words)"
    tamis reconcile -q a --over 'tamis reconcile --stdio -q b -o answer -f' >list
    check "$d of $n differ, over a pipe" list
    tr '<>' '><' <answer >list
    check "$d of $n differ, as the other end sees it" list

    tamis reconcile -q --write-stream a --seed 1 --symbols $((2 * d + 50)) -f -o a.tell
    tamis reconcile -q a.tell b >half
    tamis reconcile -q --hashes half a.tell a | sed 's/^/< /' >list
    grep '^> ' half >>list
    check "$d of $n differ, by a stream" list

    tamis sketch -qf a.tamis a --differences $((d + 10))
    tamis reconcile -q a.tamis b >half
    tamis reconcile -q --hashes half a.tamis a | sed 's/^/< /' >list
    grep '^> ' half >>list
    check "$d of $n differ, by a sketch" list
done
echo "1..$number"
