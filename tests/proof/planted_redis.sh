#!/bin/bash
# Faults planted one by one into a copy of the module for Redis; the named test of tests/redis must go
# red for each.
#
#     fault  test  file  what to replace  by what
. "$(dirname "$0")/../help/planted.inc"
prepare include src engines tests -- build/tamis-redis.so

try() { # test
    command -v redis-server >test.log || return 3
    make -s -j2 CFLAGS=-O1 build/tamis-redis.so >build.log 2>&1 || return 2
    TAMIS_REDIS=$PWD/build/tamis-redis.so limited "tests/redis/$1" >test.log 2>&1 || return 1
}

plant "half a Bloom filter says no" bf.py \
    engines/redis/bf.c "items_take(ctx, &t, v, argv + 2, argc - 2) : !p.value;" "items_take(ctx, &t, v, argv + 2, argc - 2) : true;"
plant "an expansion of 0 scales" bf.py \
    engines/redis/bf.c "if (n.wish.expansion == 0) n.wish.is_fixed = true;" ""
plant "the same item twice in a command is new twice" bf.py \
    engines/redis/bf_add.c "t->hit[i] = seen[slot] != 0;" "t->hit[i] = 0;"
plant "what does not scale takes any number" bf.py \
    engines/redis/bf_add.c "*is_done = n <= l->room && n" "*is_done = n"
plant "what was there is replicated again" bf.py \
    engines/redis/bf_add.c "    if (o->added) {" "    if (o->done) {"
plant "a filter that grew is not put in place" bf.py \
    engines/redis/bf_add.c "        value_replace(j->target, j->result);" "        tamis_free(j->result);"
plant "any rate above a quarter is taken" bf.py \
    engines/redis/bf_new.c "const double most = 0.25," "const double most = 1,"
plant "half a seed is left out" bf.py \
    engines/redis/bf_new.c "memcpy(text, seed + SECRET_BYTES, sizeof text - 1);" "memset(text, 0, sizeof text - 1);"
plant "the capacity is that of the first stage" bf.py \
    engines/redis/bf_info.c ".capacity = (first << stages) - first," ".capacity = first,"
plant "a chunk may reach into the next link" bf.py \
    engines/redis/bf_dump.c "return len > left ? \"ERR invalid chunk" "return false ? \"ERR invalid chunk"
plant "a header may say other items than its links" bf.py \
    engines/redis/bf_dump.c "return items == h.items;" "return true;"
plant "links are saved without their items" bf.py \
    engines/redis/origin_bloom.c "redis.SaveUnsigned(io, l.items);" "redis.SaveUnsigned(io, 0 * l.items);"
plant "old files have no bits" bf.py \
    engines/redis/origin_bloom.c "bits_of_old(&l);" "8;"
finish
