#!/bin/bash
# SPDX-License-Identifier: MIT
# The bench runs, its JSON is whole, no contestant loses a key, and rates are what plans say. No
# time is looked at. A report with a fault in it is refused.
. "$(dirname "$0")/../support/trials.inc"

cat >"$work/check.py" <<'END_OF_CHECK'
import json, math, sys

def tail(n, k, p):
    """The smaller of P(X <= k) and P(X >= k) for n trials: an exact sum over one side."""
    log = lambda i: (math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)
                     + i * math.log(p) + (n - i) * math.log1p(-p))
    side = range(k, -1, -1) if k < n * p else range(k, n + 1)
    total = 0.0
    for i in side:
        term = math.exp(log(i))
        total += term
        if term < total * 1e-12: break
    return total

report = json.load(open(sys.argv[1]))
assert report["machine"]["kernel"] and report["machine"]["compiler"]
assert [e["key_bytes"] for e in report["events"]] == [8, 32]
for event in report["events"]:
    ours = [c for c in event["contestants"] if c["side"] == "ours"]
    for way in "one", "batch":
        assert len([c for c in ours if c["way"] == way]) == 8, way
    assert [c for c in event["contestants"] if c["side"] == "floor"]
    for c in event["contestants"]:
        who = c["name"], c["way"], event["key_bytes"]
        assert c["miss"]["ns"] > 0 and c["hit"]["best"] <= c["hit"]["ns"], who
        if c["side"] == "floor": continue
        assert c["checked"] == event["keys"] and c["false_negatives"] == 0, who
        assert c["build"]["ns"] > 0 and c["bits_per_key"] > 5, who
    for c in ours:
        # One filter is not the mean of all: 2 % on both sides, and a chance of 10^-9.
        n, k, p = c["strangers"], c["false_positives"], c["fpr_expected"]
        p *= 1.02 if k > n * p else 0.98
        assert tail(n, k, p) > 1e-9, (c["name"], c["way"], k, n * p)
END_OF_CHECK

spoil() { # what to put for what
    sed "0,/$1/s//$2/" "$work/out.json" >"$work/bad.json"
    ! cmp -s "$work/out.json" "$work/bad.json" && ! python3 "$work/check.py" "$work/bad.json"
}

try "the bench runs" "$B/bench/bench" --smoke --peers none --json "$work/out.json"
try "its report holds" python3 "$work/check.py" "$work/out.json"
try "a lost key is noticed" spoil '"false_negatives": 0' '"false_negatives": 1'
try "a high rate is noticed" spoil '"false_positives": 1' '"false_positives": 2'
try "a low rate is noticed" spoil '"false_positives": [0-9]*' '"false_positives": 90'
try "a missing contestant is noticed" spoil '"side": "ours", "name": "split"' '"side": "peer", "name": "split"'
try "a report that is cut is noticed" spoil '"machine"' '"machine'
room() { # as many bits per key as a filter of twice the keys has
    "$B/bench/bench" --keys 5000 --rounds 1 --builds 1 --peers none --no-floor --ways batch \
        --spec classic --spec classic:capacity=1e4 --json "$work/room.json" &&
        python3 -c "
import json, sys
one, two = (c['bits_per_key'] for c in json.load(open(sys.argv[1]))['events'][0]['contestants'])
assert abs(two / one - 2) < 0.01, (one, two)" "$work/room.json"
}
pictures() { # of two sizes; blocked is in both and split only in the smaller one
    local bench="$B/bench/bench --rounds 1 --builds 1 --peers none --ways batch"
    $bench --keys 1e3 --kinds blocked,split --json "$work/1e3.json" || return
    $bench --keys 1e4 --kinds blocked --json "$work/1e4.json" || return
    bench/plot "$work" "$B/tamis" "$work/out.json" "$work/1e3.json" "$work/1e4.json" || return
    python3 -c "
import sys, xml.dom.minidom as xml
for name in sys.argv[1:]:
    texts = [t.firstChild.data for t in xml.parse(name).getElementsByTagName('text')]
    assert 'blocked' in texts and 'split' in texts, (name, texts)" "$work/size.svg" "$work/speed.svg"
}
try "a spec may have room for more keys" room
try "pictures are drawn" pictures
try "an unknown kind is refused" sh -c "! $B/bench/bench --kinds nothing"
try "help is there" sh -c "$B/bench/bench --help | grep -q 'A duel'"
echo "1..$n"
exit ${code:-0}
