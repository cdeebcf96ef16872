# SPDX-License-Identifier: MIT
# One object, with an array of plans that fit or tell why not.
if ! python3 -c 'import json' 2>/dev/null; then echo "no python3"; exit 77; fi
tamis plan --json --capacity 1M --fpr 1% >good
tamis plan --json --size 16 --fpr 1% >some
tamis plan --json --table >table
python3 - <<'END'
import json
for plan in json.load(open("good"))["plans"]:
    if plan["kind"] == "blocked":
        print(" ".join(plan))
    assert plan["fits"] == ("why" not in plan)
    assert not plan["fits"] or 0 < plan["fpr_expected"] <= 0.01
for plan in json.load(open("some"))["plans"]:
    assert plan["fits"] == ("why" not in plan)
    if plan["kind"] in ("classic", "blocked", "split"):
        assert plan["fits"] == (plan["kind"] == "classic")
rows = json.load(open("table"))["rows"]
print(len(rows), sum(len(row["fpr_by_probes"]) for row in rows))
END
