# SPDX-License-Identifier: MIT
# Where an excerpt was: by file, text and digits, one and several, as JSON.
seq 1000 2999 >one
seq 5000 2 8000 >two
tamis record -q traffic.tamis one two
tail -c +124 two | head -c 200 >a
tail -c +3000 one | head -c 300 >b
tamis trace traffic.tamis b; echo "exit $?"
echo "-- several"; tamis trace traffic.tamis a b; echo "exit $?"
echo "-- -H"; tamis trace traffic.tamis -H - <a 2>/dev/null
echo "-- --text"; tamis trace traffic.tamis --text "$(cat a)"
echo "-- --hex"; od -An -v -tx1 a | tamis trace traffic.tamis --hex
echo "-- --json"; tamis trace traffic.tamis a b --json >json; echo "exit $?"; sed "s,\(\.[0-9]\{4\}\)[0-9]*,\1,g" json
echo "-- --max-offset"; tamis trace traffic.tamis b --max-offset 2998; echo "exit $?"
tamis trace traffic.tamis b --max-offset 2999; echo "exit $?"
echo "-- --flows"; echo one >names; tamis trace traffic.tamis a b --flows names; echo "exit $?"
echo "-- -q"; tamis trace -q traffic.tamis a; echo "exit $?"
echo "-- nowhere"; seq 100000 100100 >c
tamis trace traffic.tamis c; echo "exit $?"
tamis trace traffic.tamis c --json >json; echo "exit $?"; sed "s,\(\.[0-9]\{4\}\)[0-9]*,\1,g" json
tamis trace traffic.tamis c a; echo "exit $?"
echo "-- a rate so high that accidents are expected"
tamis record -q noisy.tamis one two --fpr 30%
head -c 140 c | tamis trace noisy.tamis 2>&1 >found | sed 's/[0-9.]* places/many places/'
[ -s found ] && echo "some are false"
