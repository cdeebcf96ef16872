# SPDX-License-Identifier: MIT
# What can be refused without any server; tests/redis/cluster.py has the rest.
if tamis cluster info x 2>&1 --redis 127.0.0.1:1 --timeout 1 | grep -q 'built without hiredis'; then
    echo "built without hiredis"
    exit 77
fi
export TAMIS_CLUSTER=127.0.0.1:1
seq 10 >keys
tamis build -q small.tamis keys
tamis build -q cuckoo.tamis keys -k cuckoo
try() {
    tamis cluster "$@" </dev/null
    echo "$1: exit $?"
}
try
try create
try create name
try create name split:capacity=1000 more
try info name more
try grow name
try info name --shards 3
try repair name -v
try add name keys --labels
try load name nowhere.tamis
try load name cuckoo.tamis
try dump name -
try dump name keys
try repair name --from small.tamis --accept-loss
try check name nowhere.txt --delimiter ,
for address in "" : host: :1 host:x host:0 host:65536 '[::1]:' a:1,,b:2; do try info name --redis "$address" --timeout 1; done
try info name --timeout 0
try info name --timeout 1
