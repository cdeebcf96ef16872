# SPDX-License-Identifier: MIT
# The names that programs rely on, in one object that parses.
if ! python3 -c 'import json' 2>/dev/null; then echo "no python3"; exit 77; fi
printf 'ant\nbee\n' | tamis build -q image.tamis --size 4096 --note 'comment=a "quoted" \ text'
tamis info --json image.tamis >json
python3 -m json.tool json >/dev/null
python3 - <<'END'
import json
info = json.load(open("json"))
print(" ".join(info))
print(info["kind"], info["capacity"], info["items"], info["fpr_asked"], info["key_id"])
print(info["abilities"][0], info["reliable_count"], info["affected"], info["caveat"])
print(info["notes"])
print(0 < info["fpr_now"] < 1, 0 < info["fill"] < 1, round(info["items_now"]))
END
