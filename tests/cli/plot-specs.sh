# SPDX-License-Identifier: MIT
# Rates of specs against k, n and the size: by formula, and measured with intervals. Keys and probes
# are the same in every run.
if ! python3 -c 'import json, xml.dom.minidom' 2>/dev/null; then echo "no python3"; exit 77; fi
tamis plot rate-k classic:capacity=20k,fpr=1% --measure --probes 50000
tamis plot rate-k classic:capacity=1M,fpr=1% blocked:capacity=1M,fpr=1% blocked:capacity=1M,fpr=0.1%
tamis plot rate-n blocked:capacity=20k cuckoo:capacity=20k --measure --probes 50000
tamis plot rate-size counting:capacity=10k,width=3 ribbon:capacity=10k
tamis plot rate-size classic:capacity=10k,hashes=5 | tail -n 1
tamis plot rate 'classic:capacity=1M,scheme=triple' 'classic:capacity=1M,hashes=4' | tail -n 1
echo "-- one style of labels on an axis"
tamis plot rate-k classic:capacity=1k,fpr=1e-10 | grep -o '^ *[0-9][^ ]*\( %\)\?'
tamis plot rate-n --kinds quotient,scalable | tail -n 3
echo "-- as numbers, and as XML"
for picture in rate-k rate-n rate-size; do
    tamis plot $picture blocked:capacity=2k classic:capacity=2k --measure --json >one.json
    tamis plot $picture blocked:capacity=2k classic:capacity=2k --measure --json >two.json
    cmp one.json two.json
    tamis plot $picture blocked:capacity=2k classic:capacity=2k --measure -o - >picture.svg
    python3 - "$picture" <<'END'
import json, sys, xml.dom.minidom
xml.dom.minidom.parse("picture.svg")
picture = json.load(open("one.json"))
series = {s["name"]: s for s in picture["series"]}
all_points = inside = 0
for name, s in series.items():
    if not name.endswith(", measured"):
        assert s["intervals"] == []
        continue
    curve = next(c["points"] for n, c in series.items() if n.startswith(name[:-len(", measured")]))
    assert len(s["intervals"]) == len(s["points"]) >= 8
    for (x, y), (low, high) in zip(s["points"], s["intervals"]):
        assert 0 <= low <= y <= high <= 1
        at, rate = min(curve, key=lambda p: abs(p[0] - x))
        if abs(at - x) < 1e-9:
            all_points += 1
            inside += low <= rate * 1.01 and high >= rate * 0.99
print(sys.argv[1], picture["x"], "/", picture["y"], all_points >= 10, inside >= 0.8 * all_points)
END
done
echo "-- refused"
for picture in "rate-k ribbon:capacity=1M" "rate-k cukoo:capacity=1" "rate-k classic" \
    "rate-k classic:capacity=0,bits=64" "rate-n minhash:bins=64" "rate-n classic:capacity=1M,fpr=2" \
    "rate-k classic:capacity=10M --measure" "rate-n iblt:capacity=9,cells=2^38 --measure" \
    "rate-n blocked:capacity=1M --kinds split" "rate-n blocked:capacity=1M -n 5" "rate-k --probes 5" \
    "rate-k --measure --probes 0" "rate-k --measure --probes 1G" "rate --measure" "rate-kk" \
    "rate-size hash=sip13,key=outside,capacity=9 --measure" "rate-n one.json" \
    "rate-n $(seq -f capacity=%g -s ' ' 1 11)"; do
    tamis plot $picture -o never.svg
    echo "exit $?"
done
test ! -e never.svg
