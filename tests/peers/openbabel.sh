#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints beside Open Babel (Debian's openbabel): files that it wrote go round byte for byte, and what it
# finds similar, and possible superstructures, are what we find. Both see 2000 molecules of our own, and
# every type of print that it has.
. "$(dirname "$0")/common"
command -v obabel >/dev/null ||
    apt-get install -y --no-install-recommends openbabel >"$work/apt.log" 2>&1 ||
    skip openbabel "openbabel cannot be installed"
tamis=$B/tamis
[ -x "$tamis" ] || skip openbabel "no $tamis"
python3 "$here/molecules.py" 2000 7 >"$work/all.smi"
cd "$work" || exit 2

goes_round() { # type
    obabel all.smi -ofps -xf"$1" -O "$1.fps" >/dev/null 2>&1 || return 1
    "$tamis" convert -q -f "$1.fps" "$1.tamis" --from fps && "$tamis" convert -q -f "$1.tamis" back.fps --to fps &&
        cmp "$1.fps" back.fps && echo "$(grep -vc '^#' "$1.fps") prints of $(sed -n 's/#num_bits=//p' "$1.fps") bits"
}

# Its comparison of one molecule with all: lines "id similarity", and ids of superstructures.
they_find() { # type, line of the molecule
    { sed -n "$2p" all.smi && cat all.smi; } >first.smi
    obabel first.smi -ofpt -xf"$1" 2>/dev/null | python3 -c '
import re, sys
seen = None
for line in sys.stdin:
    m = re.match(r">(\S*)\s+Tanimoto from \S+ = (\S+)", line)
    if m:
        seen = m[1]
        print("similar", seen, m[2])
    elif line.startswith("Possible superstructure"):
        print("contains", seen)' | sort
}
we_find() { # type, line
    grep -v '^#' "$1.fps" | sed -n "$2p" >query
    { "$tamis" search -q "$1.tamis" query --min-similarity 0 | awk -F'\t' '{print "similar", $2, $3}'
      "$tamis" search -q "$1.tamis" query --screen | awk -F'\t' '{print "contains", $2}'; } | sort
}
agree() { # type
    for line in 1 17 333 1200 1999; do
        they_find "$1" $line >theirs && we_find "$1" $line >ours && diff theirs ours || return 1
    done
    echo "5 molecules with $(grep -c similar ours) each; the last is part of $(grep -c contains ours)"
}
# What it finds in its own index, where nitro groups have other prints than in its FPS files.
fast_search() {
    grep -v 'N+' all.smi >plain.smi
    obabel plain.smi -ofs -O plain.fs >/dev/null 2>&1 && obabel plain.smi -ofps -xfFP2 -O plain.fps >/dev/null 2>&1 ||
        return 1
    for line in 5 50 500; do
        smiles=$(sed -n "${line}p" plain.smi | cut -f 1)
        obabel plain.fs -osmi -s "$smiles" -at0.45 -al 5000 2>/dev/null | awk '{print $2}' | sort >theirs
        grep -v '^#' plain.fps | sed -n "${line}p" | "$tamis" search -q --from fps plain.fps --min-similarity 0.45 | cut -f 2 | sort >ours
        diff theirs ours || return 1
    done
    echo "of $(wc -l <plain.smi) the last query found $(wc -l <ours)"
}
for type in ${TYPES:-FP2 FP3 FP4 MACCS ECFP4}; do
    step "openbabel: prints of type $type go round" goes_round $type
    step "openbabel: similarities and superstructures by $type are the same" agree $type
done
step "openbabel: its fast search finds the same" fast_search
exit $code
