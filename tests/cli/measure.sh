# SPDX-License-Identifier: MIT
# Speeds are numbers above 0; how large they are is no matter for a test.
if ! python3 -c 'import json' 2>/dev/null; then echo "no python3"; exit 77; fi
seq 1 3000 >keys.txt
tamis build -q set.tamis keys.txt
tamis bench -n 1000 | sed 's/ *[0-9.,]* ns.*/ N ns/'
tamis bench --json -k fuse keys.txt >file
tamis bench --json --image set.tamis >image
tamis bench --json --image set.tamis keys.txt >both
tamis plan --json --capacity 1000 --later --measure >plans
python3 - <<'END'
import json
for name in ("file", "image", "both"):
    bench = json.load(open(name))
    print(name, *bench, sep=" ")
    speeds = {k: v for k, v in bench.items() if k.endswith("_ns")}
    print(*sorted(k for k, v in speeds.items() if v is None))
    assert all(v > 0 for v in speeds.values() if v is not None)
plans = json.load(open("plans"))
print(plans["measured_with"])
for plan in plans["plans"]:
    assert not plan["fits"] or (plan["build_ns"] > 0 and plan["miss_ns"] > 0 and plan["one_ns"] > 0)
END
tamis plan --capacity 1000 --later --measure | grep -c '^fastest: .* ns per query'
echo "-- refused"
tamis bench --image set.tamis -k fuse; echo "exit $?"
tamis bench --image missing.tamis; echo "exit $?"
tamis bench missing.txt; echo "exit $?"
tamis bench - </dev/null; echo "exit $?"
tamis bench -k fuze; echo "exit $?"
tamis bench -n 10 >/dev/full; echo "exit $?"
