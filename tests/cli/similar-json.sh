# SPDX-License-Identifier: MIT
# For programs.
seq 1 50 >a
seq 26 75 >b
seq 100 120 >c
tamis similar --json --exact a b
tamis similar --json --exact --min-similarity 0.9 a b c
echo "exit $?"
tamis similar --json a b c --min-similarity 0 | python3 -c '
import json, sys
told = json.load(sys.stdin)
assert [s["name"] for s in told["sets"]] == ["a", "b", "c"] and not told["is_exact"]
first = told["pairs"][0]
assert (first["first"], first["second"]) == ("a", "b"), first
assert abs(first["similarity"] - 1 / 3) <= 5 * first["similarity_error"] + 1e-9, first
assert abs(first["common"] - 25) <= 5 * first["common_error"] + 1, first
assert all(0 <= p["of_first"] <= 1 and 0 <= p["of_second"] <= 1 for p in told["pairs"])
print(len(told["pairs"]), "pairs")'
