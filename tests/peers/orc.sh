#!/bin/bash
# Apache ORC's Bloom filters beside its Java library, taken from Maven: a thousand random filters each
# way, of text and of numbers, in both ways to write bits.
. "$(dirname "$0")/common"
command -v java >/dev/null || skip orc "no Java"
jars=$store/orc
if [ ! -e "$jars/slf4j-api-1.7.36.jar" ]; then
    command -v mvn >/dev/null || skip orc "no Maven"
    for artifact in org.apache.orc:orc-core:1.9.4 com.google.protobuf:protobuf-java:3.22.0 org.slf4j:slf4j-api:1.7.36; do
        mvn -q -B dependency:copy -Dartifact=$artifact "-DoutputDirectory=$jars" >"$work/mvn.log" 2>&1 ||
            skip orc "Maven cannot fetch $artifact"
    done
fi
theirs() { java -cp "$jars/*" "$here/orc.java" "$1"; }
wish() { # column, stream, seed
    python3 "$here/wishes.py" "orc:column=$1,stream=$2" "orc:capacity={n},fpr={p},column=$1" "{n} {p} $1 $2" 600 "$3"
}
we_read() { wish "$1" "$2" 1 | theirs write | "$PEER" check; }
they_read() { wish "$1" "$2" 2 | "$PEER" make >"$work/ours" && theirs read <"$work/ours"; }
set -o pipefail
for column in bytes number; do
    for stream in utf8 original; do
        step "orc, $column, $stream: what it wrote, we read and make anew" we_read $column $stream
        step "orc, $column, $stream: what we wrote, it reads and makes anew" they_read $column $stream
    done
done
exit $code
