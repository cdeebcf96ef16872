#!/bin/bash
# Apache DataSketches' Bloom filters beside its Java library, taken from Maven: a thousand random
# filters each way, with bits counted and not.
. "$(dirname "$0")/common"
command -v java >/dev/null || skip datasketches "no Java"
jars=$store/datasketches
if [ ! -e "$jars/datasketches-memory-3.0.2.jar" ]; then
    command -v mvn >/dev/null || skip datasketches "no Maven"
    for artifact in datasketches-java:6.1.1 datasketches-memory:3.0.2; do
        mvn -q -B dependency:copy -Dartifact=org.apache.datasketches:$artifact "-DoutputDirectory=$jars" >"$work/mvn.log" 2>&1 ||
            skip datasketches "Maven cannot fetch $artifact"
    done
fi
theirs() {
    java --add-exports java.base/jdk.internal.misc=ALL-UNNAMED --add-exports java.base/jdk.internal.ref=ALL-UNNAMED \
        --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED \
        -cp "$jars/*" "$here/datasketches.java" "$1"
}
spec="datasketches:capacity={n},fpr={p},seed={seed}"
wish() { python3 "$here/wishes.py" "datasketches:count=$1" "$spec" "{n} {p} {seed} $1" 1000 "$2" least=1; }
we_read() { wish "$1" 1 | theirs write | "$PEER" check; }
they_read() { wish "$1" 2 | "$PEER" make >"$work/ours" && theirs read <"$work/ours"; }
set -o pipefail
for count in known unknown; do
    step "datasketches, count $count: what it wrote, we read and make anew" we_read $count
    step "datasketches, count $count: what we wrote, it reads and makes anew" they_read $count
done
exit $code
