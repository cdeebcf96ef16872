# SPDX-License-Identifier: MIT
# A sketch knows sets and not keys: verbs about keys refuse it, the others say so.
seq 1 3000 >a
tamis build s a -k minhash
tamis build -q f a -k blocked
try() {
    tamis "$@" 2>words
    echo "$1: exit $?"
    sed 's/; kinds that can:.*//' words >&2
}
try check s a
try count s a
try remove s a -o made
try get s a
try add s a --new -o made
try bench --image s
try doctor s --members a
try intersect s s -o made
try info s
try doctor s
try plan minhash:bins=128
try fold s --keep 17 -o made
try fold s --keep 8 --by 2 -o made
try fold f --keep 8 -o made
try fold s --keep 1 -o one
try add one a -o made
try union one one -o made
try fold one 2 -o made
try fold one --keep 1 -o made
try union s s -o two
cmp s two || tamis info two | grep items
tamis info --json one | python3 -c '
import json, sys
told = json.load(sys.stdin)
print(told["shape"], told["fpr_now"], told["is_saturated"], "sketch" in told["abilities"])'
tamis plan -n 1M | grep "about sets"
