#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults planted one by one into a copy of the module for Redis, where it takes bytes from outside, copies and
# replicates; the named test of tests/redis must go red for each.
#
#     fault  test  file  what to replace  by what
. "$(dirname "$0")/../support/planted.inc"
prepare include src engines tests -- build/tamis-redis.so build/tests/redis/mutate build/tests/fuzz/replay_rdb
export PROGRAMS=150 MUTANTS=30000 KEYS=100000 # smaller than in CI, and enough for these

try() { # test, or replay_rdb
    command -v redis-server >test.log || return 3
    make -s -j2 CFLAGS=-O1 build/tamis-redis.so >build.log 2>&1 || return 2
    if [ "$1" = replay_rdb ]; then
        make -s -j2 CFLAGS=-O1 build/tests/fuzz/replay_rdb >>build.log 2>&1 || return 2
        limited build/tests/fuzz/replay_rdb >test.log 2>&1 || return 1
        return
    fi
    TAMIS_REDIS=$PWD/build/tamis-redis.so limited "tests/redis/$1" >test.log 2>&1 || return 1
}

plant "a total is taken however large it is" attacks.py \
    engines/redis/chunk_buffer.c "if (total == 0 || total > bounds_filter_bytes() + BESIDE_PAYLOAD)" \
    "if (total == 0)"
plant "chunks may leave a gap" attacks.py \
    engines/redis/chunk_buffer.c 'if (offset > a->have) return "ERR there is a gap before this chunk";' ""
plant "a chunk of no bytes is kept" programs.py \
    engines/redis/chunk_buffer.c "if (size == 0) return" "if (size == SIZE_MAX) return"
plant "A2: a chunk may reach beyond the total" attacks.py \
    engines/redis/chunk_buffer.c "if (offset > total || size > total - offset)" "if (offset > total)"
plant "a creation is replicated without its secret" programs.py \
    engines/redis/new_filter.c "    if (c->has_secret)
        redis.Replicate" "    if (c->notes < 0)
        redis.Replicate"
plant "a capacity is held against settings of the replica" bounds.py \
    engines/redis/cf_add.c "bounds_bind() ? 2 * settings.cf_bucket_size : 1" "2 * settings.cf_bucket_size"
plant "packed hashes are not replicated" killed.py \
    engines/redis/own_hashes.c 'request_changed(r, "tamis.add");' 'request_notify(r, "tamis.add");'
plant "a refused end is not told to replicas" programs.py \
    engines/redis/chunk_load.c "        replicate(r, c);
" ""
plant "a copy leaves behind what is still coming" programs.py \
    engines/redis/persist.c "if (v->arrival) arrival_each(v->arrival, copy_piece, &c);" ""
plant "a copy has no family" cf.py \
    engines/redis/persist.c "value_set_facts(twin, &v->facts);" ""
plant "half a file becomes a value" replay_rdb \
    engines/redis/persist.c "    const uint64_t have = redis.LoadUnsigned(io);
    if (redis.IsIOError(io)) return false;" "    const uint64_t have = redis.LoadUnsigned(io);"
plant "M20: a filter that was saved at the gate does not load" replay_rdb \
    engines/redis/persist.c "|| form > FORM_REDISCUCKOO) return false;" "|| form > FORM_REDISCUCKOO || have >= total) return false;"
plant "A12: what was refused is not freed" mutate.py \
    engines/redis/persist.c "    if (is_good) return v;
    value_release(v);" "    if (is_good) return v;"
plant "a piece is freed twice" mutate.py \
    engines/redis/persist.c "        redis.Free(piece);
" "        redis.Free(piece), redis.Free(piece);
"
plant "A14: a note is believed on any kind" attacks.py \
    engines/redis/value.c "if (strcmp(families[at].own[i], kind) == 0) return" "if (*kind) return"
plant "chunks of BF lie one byte further on" bf.py \
    engines/redis/bf_dump.c "*offset = (uint64_t)iterator - 1 - len;" "*offset = (uint64_t)iterator - len;"
finish
