# SPDX-License-Identifier: MIT
# What cannot be converted is told with the reason, and nothing is left behind.
cp "$(dirname "$0")/../vectors/guava/mitz64_long_n10_p0.01.bin" long.bin
seq 1 100 | tamis build -q blocked.tamis
try() {
    tamis convert "$@"
    echo "exit $?"
}
try blocked.tamis out --to guava
try long.bin out
try blocked.tamis out --from guava
try long.bin out --from gauva
try long.bin out --from nothing-like-it
try long.bin out --from guava:column=s
try long.bin out --from guava: -q && rm out
try blocked.tamis out --to gauva
try blocked.tamis out --to guava:x
try long.bin blocked.tamis --from guava
try long.bin folder/out --from guava
try nowhere.bin out --from guava
try . out --from guava
: >empty
try empty out --from guava
head -c 21 long.bin >short
try short out --from guava
try long.bin out --from guava --keys int65
try long.bin - --from guava --json
try blocked.tamis out --to guava --keys int64
tamis convert -q long.bin --from guava long.tamis --keys int64
try long.tamis out --keys int32
try long.bin
tamis convert -q long.tamis - --to guava >/dev/full
echo "exit $?"
(trap '' XFSZ && ulimit -f 0 && exec tamis convert -q long.tamis out --to guava) 2>&1 | cat
ls
