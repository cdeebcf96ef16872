# SPDX-License-Identifier: MIT
"""SMILES of molecules that are put together from rings, chains and groups: ours, and always the same."""
import random, sys

RINGS = ["c1ccccc1", "c1ccncc1", "c1ccsc1", "C1CCCCC1", "C1CCNCC1", "c1ccc2ccccc2c1", "C1CCOC1", "c1nc[nH]c1",
         "c1ccc2[nH]ccc2c1", "C1CC1", "C1COCCN1", "c1ccoc1"]
ENDS = ["C", "CC", "C(C)C", "O", "N", "F", "Cl", "Br", "C(=O)O", "C(=O)N", "C#N", "OC", "S(=O)(=O)N", "C(F)(F)F",
        "N(C)C", "[N+](=O)[O-]"]
LINKS = ["", "C", "CC", "CCC", "O", "N", "C(=O)", "C(=O)N", "OC", "C=C", "S", "CN"]

def molecule(r):
    parts = []
    for _ in range(r.choice([1, 1, 2, 2, 3])):
        parts.append(r.choice(ENDS) if r.random() < 0.4 else "")
        parts.append(r.choice(LINKS))
        parts.append(r.choice(RINGS))
    text = "".join(parts) + r.choice(LINKS) + r.choice(ENDS)
    return text

def main(n, seed):
    r = random.Random(seed)
    seen = set()
    while len(seen) < n:
        m = molecule(r)
        if m in seen: continue
        seen.add(m)
        print(f"{m}\tm{len(seen)}")

main(int(sys.argv[1]), int(sys.argv[2]))
