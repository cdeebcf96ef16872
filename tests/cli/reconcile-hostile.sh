# SPDX-License-Identifier: MIT
# Ends that are no end of ours: one sentence, exit 2, nothing printed, nothing waited for in vain.
seq 1 500 >here
seq 1001 9000 >there
try() { # what it is, options...
    echo "# $1"
    shift
    tamis reconcile here "$@" >out 2>words
    echo "$? $(wc -c <out) $(wc -l <words)"
    sed "s/sip13 [0-9a-f]*/sip13 (id)/g" words | sed 's/^tamis: reconcile: //; s/[0-9]* B;/N B;/; s/after [0-9.]* [KM]*i*B/after N/'
}
hello() { # version, end, key
    printf '\326talk\r\032\n'
    printf "\\$1\\000\\$2\\$3\\000\\000\\000\\000"
    printf '0123456789abcdef0123456789abcdef'
}
(hello 001 142 000; printf '\011\000\000\000') >opening
try "not one of us" --over 'echo "HTTP/1.0 400 Bad request, and some more words"; echo'
try "and it goes on for ever" --over "yes no"
try "nothing" --over true
try "half a greeting, then the end" --over 'head -c 20 opening'
try "half a greeting, then silence" --timeout 1 --over 'head -c 20 opening; exec sleep 60'
try "silence" --timeout 1 --over 'exec sleep 60'
hello 002 142 000 >v2
try "another version" --over 'cat v2'
hello 001 141 000 >asks
try "the same end" --over 'cat asks'
hello 001 172 000 >neither
try "no end" --over 'cat neither'
hello 001 142 001 >keyed
try "wants a key" --over 'cat keyed'
try "a first frame of something else" --over 'cat opening; printf 123456789'
(cat opening; printf '\000\000\000\000\000\000\000\000\002') >wish
try "an impossible wish" --over 'cat wish'
(hello 001 142 000; printf '\377\377\377\177') >large
try "a frame of 2 GiB" --over 'cat large'
try "zeros without end" --over 'head -c 48 opening; exec cat /dev/zero'
# A true opening, by one who keeps what was said; then other things.
tamis reconcile -q here --over 'tamis reconcile --stdio there 2>/dev/null | tee said' >/dev/null
head -c 61 said >opening
try "true, then nothing" --over 'cat opening'
try "true, then silence" --timeout 1 --over 'cat opening; exec sleep 60'
try "true, then garbage" --over 'cat opening; seq 1 100000'
try "true, then zeros without end" --over 'cat opening; exec cat /dev/zero'
try "true, then another talk" --over 'cat said'
(cat opening; printf '\001\000\000\000q') >bad
try "true, then a frame of no kind" --over 'cat bad'
(cat opening; printf '\001\000\000\000l') >bad
try "true, then lines too early" --over 'cat bad'
(cat opening; printf '\003\000\000\000tno') >bad
try "true, then no talk" --over 'cat bad; exec cat >/dev/null'
(cat opening; printf '\001\000\000\200t') >bad
try "true, then the last frame" --over 'cat bad'
echo "# more than we take"
try "symbols" --symbols 100 --over 'tamis reconcile --stdio there 2>/dev/null'
try "bytes" --limit 20000 --over 'tamis reconcile --stdio there 2>/dev/null'
# Every byte of a conversation changed, one after the other: either it makes no difference, or it is refused.
seq 1 50 >a
(seq 3 50; echo a-line-that-is-so-long-that-it-is-found-at-the-end) >b
tamis reconcile -q a --over 'tamis reconcile --stdio b 2>/dev/null | tee said' >right
size=$(wc -c <said)
at=0
# The last one is in the line: what is sent must be what we lack.
while [ "$at" -lt "$size" ]; do
    [ "$at" -lt $((size - 25)) ] || at=$((size - 25))
    tamis reconcile a --timeout 5 --over "tamis reconcile --stdio b 2>/dev/null |
        (dd bs=1 count=$at 2>/dev/null; dd bs=1 count=1 2>/dev/null | tr '\000-\377' '\001-\377\000'; exec cat)" >out 2>words
    code=$?
    [ "$(wc -l <words)" = 1 ] || { echo "byte $at"; cat words; }
    case $code in
    1) cmp out right || echo "byte $at: another list" ;;
    2) [ ! -s out ] || echo "byte $at: printed" ;;
    *) echo "byte $at: exit $code" ;;
    esac
    [ "$at" -lt $((size - 25)) ] || { echo "$code" && sed 's/^tamis: reconcile: //' words && break; }
    at=$((at + 23))
done
