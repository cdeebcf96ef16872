#!/bin/bash
# SPDX-License-Identifier: MIT
# One filter by many processes, as batch engines run them: examples/shards with xargs, Open MPI and
# Spark. What they build together is, byte for byte, what one process builds.
#
# Spark comes from $SPARK_PYTHON, a Python that has pyspark, or from PyPI; it needs Java.
. "$(dirname "$0")/common"
examples=$here/../../examples/shards
PATH=$(cd "$B" && pwd):$PATH
export PATH
KEYS=${KEYS:-200000}
wish=split:capacity=$KEYS,fpr=1% shards=24
cd "$work" || exit 2
mkdir keys
seq "$KEYS" | awk '{ print "user-" $1 "\t\303\266 " $1 * 7 }' | split -l $((KEYS / 7 + 1)) - keys/part.
cat keys/* | tamis build -q one.tamis --spec "$wish"

is_same() { # folder with the shards
    tamis assemble "$1"/*.tamis -fo whole.tamis && cmp one.tamis whole.tamis && echo "$KEYS keys, the same bytes"
}
by_xargs() {
    "$examples/build.sh" xargs $shards "$wish" keys/* && cmp one.tamis xargs/whole.tamis &&
        grep -c '"is_complete": true' xargs/manifest.json && is_same xargs/shards
}
# A task that is killed at any time, then repeated, leaves no trace.
by_repeating() {
    local i
    for i in 1 2 3 4 5 6 7 8; do
        cat keys/* | timeout -s KILL 0.0$i tamis build -qf xargs/shards/07.tamis --spec "$wish" --shard 7/$shards
    done
    is_same xargs/shards
}
by_sorting() { # as Hadoop Streaming does
    mkdir sorted && cat keys/* | tamis partition --spec "$wish" --shards $shards | sort -s -n -k 1,1 |
        "$examples/reduce.sh" sorted $shards "$wish" && is_same sorted
}
by_mpi() {
    local run="timeout 120 mpirun --allow-run-as-root --oversubscribe -np 4"
    $run "$examples/mpi.sh" map mpi $shards "$wish" keys/* &&
        $run "$examples/mpi.sh" reduce mpi $shards "$wish" && is_same mpi/shards
}
by_spark() {
    timeout 300 "$python" "$examples/spark.py" "$work/spark" $shards "$wish" "$work/keys/*" 2>spark.log ||
        { tail -n 20 spark.log && return 1; }
    is_same spark
}

step "shards: xargs -P" by_xargs
step "shards: tasks that are killed and repeated" by_repeating
step "shards: sorted by shard, as for Hadoop Streaming" by_sorting
if command -v mpirun >/dev/null; then
    step "shards: four ranks of Open MPI" by_mpi
else
    leave_out "shards: Open MPI" "no mpirun (Debian: openmpi-bin)"
fi
python=${SPARK_PYTHON:-$store/spark/bin/python}
command -v java >/dev/null || { leave_out "shards: Spark" "no java" && exit $code; }
if ! "$python" -c 'import pyspark' 2>/dev/null; then
    { python3 -m venv "$store/spark" && timeout 500 "$store/spark/bin/pip" install -q pyspark==4.3.0; } >pip.log 2>&1 ||
        { leave_out "shards: Spark" "pyspark cannot be installed from PyPI" && exit $code; }
fi
step "shards: Spark" by_spark
exit $code
