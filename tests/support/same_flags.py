# SPDX-License-Identifier: MIT
"""same_flags.py: only tests/house/install.sh runs this. Checks that make and CMake compile every source alike.

    make -n V=1 ... | same_flags.py compile_commands.json

Compares what affects the code: the language, definitions, -f and -m; some sources are compiled twice. Ignores include paths,
optimisation, warnings and optional libraries.
"""
import json
import os
import shlex
import sys


def flags_of(words):
    kept = {word for word in words if word.startswith(("-std", "-f", "-m", "-D"))}
    return frozenset(word.replace("-fPIE", "-fPIC") for word in kept
                     if not word.endswith("_EXPORTS") and not word.startswith("-DTAMIS_WITH_"))


by_make = {}
for line in sys.stdin:
    words = shlex.split(line) if " -c " in line else []
    if words and words[-1].endswith(".c"):
        by_make.setdefault(os.path.abspath(words[-1]), set()).add(flags_of(words))
by_cmake = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for entry in json.load(file):
        if "/cli/pages/" not in entry["file"]:
            by_cmake.setdefault(os.path.abspath(entry["file"]), set()).add(flags_of(shlex.split(entry["command"])))

bad = not by_make
if by_make.keys() != by_cmake.keys():
    bad = True
    print("only one of them compiles", *(by_make.keys() ^ by_cmake.keys()))
for source in sorted(by_make.keys() & by_cmake.keys()):
    for flags in by_make[source] ^ by_cmake[source]:
        bad = True
        print(f"{source}: only {'make' if flags in by_make[source] else 'CMake'} compiles it with {sorted(flags)}")
print(len(by_make), "sources")
sys.exit(bad)
