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

plant "half a cuckoo filter says no" cf.py \
    engines/redis/cf.c "if (!p->value || p->value->filter) return false;" "if (p) return false;"
plant "removed items are not counted" cf.py engines/redis/cf.c "v->facts.deleted++;" ""
plant "a cuckoo filter has no bits to grow with" cf.py \
    engines/redis/cf.c "return STAY + doublings;" "return STAY + doublings - doublings;"
plant "a replica keeps to limits of its own" cf.py \
    engines/redis/cf_add.c "& told ? UINT64_MAX : " "& told && false ? UINT64_MAX : "
plant "replicas get what did not go in" cf.py \
    engines/redis/cf_add.c "if (a->result[i] == ADDED) item[n++]" "if (n < a->added) item[n++]"
plant "a larger filter is not put in place" cf.py \
    engines/redis/cf_add.c "if (j->result) value_replace(j->target, j->result);" "tamis_free(j->result);"
plant "chunks may have a gap" cf.py \
    engines/redis/cf_dump.c "return c->offset > v->arrival->have ? why : NULL;" "return NULL;"
plant "any number of buckets is believed" cf.py \
    engines/redis/cf.c "!is_power_of_two(s->buckets) ||" ""
plant "compacting does not begin to count anew" cf.py \
    engines/redis/cf_dump.c "s->deleted = 0;" ""
plant "sub-filters of a file may have any number of buckets" cf.py \
    engines/redis/origin_cuckoo.c "size == cells && buckets == cells / s->bucket_size" "size == cells"
plant "removals are not saved" cf.py \
    engines/redis/origin_cuckoo.c "s.items,    s.deleted," "s.items,    0 * s.deleted,"
finish
