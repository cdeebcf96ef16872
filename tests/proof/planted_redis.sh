#!/bin/bash
# Faults planted one by one into a copy of the module; the named test must go red for each.
#
#     fault  test of tests/redis, or unit  file  what to replace  by what
. "$(dirname "$0")/../help/planted.inc"
prepare include src cli engines tests -- build/tamis build/tamis-redis.so build/tests/unit/test_redis_api

try() { # test
    if [ "$1" = unit ]; then
        make -s CFLAGS=-O1 build/tests/unit/test_redis_api >build.log 2>&1 || return 2
        limited build/tests/unit/test_redis_api >test.log 2>&1 || return 1
    else
        make -s CFLAGS=-O1 build/tamis-redis.so >build.log 2>&1 || return 2
        TAMIS=build/tamis limited "tests/redis/$1.py" >test.log 2>&1 || return 1
    fi
}

plant "a function that is needed may be missing" unit \
    engines/redis/api.c "if (FETCH(name) && !missing) missing = #name;" "FETCH(name);"
plant "a command that another module has is passed over" unit \
    engines/redis/commands.c "if (create(ctx, &commands[i])) return REDIS_ERR;" "create(ctx, &commands[i]);"
plant "readers of a key may not ask it" server_side \
    engines/redis/commands.c "writes(c) && i == 0 ? change : read" "change"
plant "questions are not counted" server_side \
    engines/redis/told.c "counters.items[false]" "counters.items[true]"
plant "a load that has begun forgets when its key leaves" server_side \
    engines/redis/reply.c "if (redis.ModuleTypeGetType(p->key) == value_type(v)) return;" \
    "const bool is_old = true; if (is_old) { place_set(p, value_hold(v)); return; }"
plant "hashes of another shard are asked" own \
    engines/redis/packed.c "if (shard[i] == info.shard) continue;" "continue;"
plant "values are put up to the first that does not fit" own \
    engines/redis/own.c "if (b->number[i] > b->number[hardest]) hardest = i;" "(void)i;"
plant "the first source is left out" own \
    engines/redis/merging.c ".number = dest ? 0 : 1" ".number = 1"
plant "a copy that failed is put in place" own \
    engines/redis/alter.c "rc = a->alter(j->result, a, j);" "rc = (a->alter(j->result, a, j), TAMIS_OK);"
plant "a replica says seen when all has left" own \
    engines/redis/clock.c "return due <= clock_generations(v->filter);" "return true;"
plant "ticks are not told to replicas" own \
    engines/redis/clock.c "redis.Replicate(ctx, \"TAMIS.TICK\"" "if (false) redis.Replicate(ctx, \"TAMIS.TICK\""
plant "when it ticked last is forgotten" own \
    engines/redis/value.c "v->facts.family == FAMILY_TAMIS && !v->facts.every" "v->facts.family == FAMILY_TAMIS"
plant "who waited is not replicated" work \
    engines/redis/work.c "if (!running) return server_replicates(ctx);" \
    "if (running) return REDIS_OK; if (!running) return server_replicates(ctx);"
plant "jobs end while clients are paused" work \
    engines/redis/work.c "!redis.AvoidReplicaTraffic();" "redis.AvoidReplicaTraffic() < 2;"
finish
