#!/bin/bash
# SPDX-License-Identifier: MIT
# Filters of the JVM beside ours: Guava, Spark, Hadoop, Cassandra, ORC and DataSketches from Maven, each
# in a version of today and, where the bytes changed, in an older one; a thousand random filters each
# way. What this library does not know, or Maven does not bring, is left out with a line.
. "$(dirname "$0")/common"
command -v javac >/dev/null || skip jvm "no Java compiler"
command -v mvn >/dev/null || skip jvm "no Maven"
jars=$store/jars
set -o pipefail

# Alone, unless a second word says what it needs: other artifacts, or "all". True when it is there.
fetch() { # group:name:version, "all" or artifacts
    local id=${1//:/-} more=$2 artifact group name version
    local alone="<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    [ -e "$jars/$id/.whole" ] && return
    [ "$more" = all ] && more= alone=
    mkdir -p "$jars/$id" && {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"> <modelVersion>4.0.0</modelVersion>'
        echo '<groupId>peers</groupId> <artifactId>peers</artifactId> <version>1</version> <packaging>pom</packaging>'
        echo '<dependencies>'
        for artifact in $1 $more; do
            IFS=: read -r group name version <<<"$artifact"
            echo "<dependency> <groupId>$group</groupId> <artifactId>$name</artifactId> <version>$version</version>"
            echo "$alone </dependency>"
        done
        echo '</dependencies> </project>'
    } >"$jars/$id/pom.xml"
    (cd "$jars/$id" && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=.) \
        >"$work/mvn.log" 2>&1 && touch "$jars/$id/.whole"
}

# Runs a class of java/ with the jars of one version. Nothing is logged: our lines go by stdout.
java_of() { # class, id, arguments...
    local class=$1 id=$2
    shift 2
    java -XX:+UseSerialGC -cp "$work/$id:$jars/$id/*" "$class" "$@"
}

compile() { # class, id
    mkdir -p "$work/$2" && echo '<configuration><root level="OFF"/></configuration>' >"$work/$2/logback.xml" &&
        javac -nowarn -cp "$jars/$2/*" -d "$work/$2" "$here/java/Peer.java" "$here/java/$1.java" >"$work/javac.log" 2>&1
}

we_read() { java_of "$1" "$2" write 1000 1 "$3" | "$PEER" check; }
they_read() {
    java_of "$1" "$2" wish 1000 2 "$3" | "$PEER" make >"$work/ours" || { tail -n 1 "$work/ours" && return 1; }
    java_of "$1" "$2" read <"$work/ours"
}

beside() { # class, format, artifact, variant, what it needs
    local class=$1 format=$2 id=${3//:/-} variant=$4
    local name="$format${variant:+ ($variant)}, ${3#*:}"
    "$PEER" knows "$format" || { leave_out "$name" "this library does not know the format $format" && return; }
    fetch "$3" "$5" || { leave_out "$name" "Maven does not bring it" && return; }
    [ -e "$work/$id/$class.class" ] || compile "$class" "$id" || { cat "$work/javac.log" && code=1; }
    if [ "$variant" = me ]; then
        leave_out "$name: what it wrote" "Cassandra 4 reads the files of 3.x and writes none"
    else
        step "$name: what it wrote, we read and make anew" we_read "$class" "$id" "$variant"
    fi
    step "$name: what we wrote, it reads and makes anew" they_read "$class" "$id" "$variant"
}

beside Guava guava com.google.guava:guava:33.5.0-jre
beside Guava guava com.google.guava:guava:31.1-jre old
beside Guava guava com.google.guava:guava:20.0 old
beside Spark spark org.apache.spark:spark-sketch_2.13:4.1.0
beside Spark spark org.apache.spark:spark-sketch_2.13:3.5.6 old
beside Hadoop hadoop org.apache.hadoop:hadoop-common:3.4.1 hadoop
beside Hadoop hadoop-counting org.apache.hadoop:hadoop-common:3.4.1 hadoop-counting
beside Hadoop hadoop-dynamic org.apache.hadoop:hadoop-common:3.4.1 hadoop-dynamic
beside Cassandra cassandra org.apache.cassandra:cassandra-all:4.1.7 nb all
beside Cassandra cassandra org.apache.cassandra:cassandra-all:4.1.7 me all
for column in bytes number; do
    for stream in utf8 original; do
        beside Orc orc org.apache.orc:orc-core:1.9.4 "column=$column,stream=$stream" \
            "com.google.protobuf:protobuf-java:3.22.0 org.slf4j:slf4j-api:1.7.36"
    done
done
for count in known unknown; do
    beside DataSketches datasketches org.apache.datasketches:datasketches-java:6.1.1 "count=$count" all
done
exit $code
