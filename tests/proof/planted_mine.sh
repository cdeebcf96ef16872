#!/bin/bash
# Faults planted one by one into a copy of the module for Redis; the named test of tests/redis must go
# red for each.
#
#     fault  test  file  what to replace  by what
. "$(dirname "$0")/../help/planted.inc"
prepare include src cli engines tests -- build/tamis build/tamis-redis.so build/tests/unit/test_redis_api

try() { # test of tests/redis, or unit
    if [ "$1" = unit ]; then
        make -s -j2 CFLAGS=-O1 build/tests/unit/test_redis_api >build.log 2>&1 || return 2
        limited build/tests/unit/test_redis_api >test.log 2>&1 || return 1
        return
    fi
    command -v redis-server >test.log || return 3
    make -s -j2 CFLAGS=-O1 build/tamis-redis.so >build.log 2>&1 || return 2
    TAMIS=build/tamis TAMIS_REDIS=$PWD/build/tamis-redis.so limited "tests/redis/${1%.py}.py" >test.log 2>&1 || return 1
}

plant "limits bind the primary's commands" bounds \
    engines/redis/bounds.c "!(flags & (REDIS_IS_REPLICATED | REDIS_IS_READ_ONLY))" "true"
plant "limits bind what the append-only file has" bounds \
    engines/redis/bounds.c "return !is_read && !" "return !"
plant "limits bind files and full syncs" bounds \
    engines/redis/bounds.c "return !(redis.GetContextFlags(NULL) & told);" "return (redis.GetContextFlags(NULL) & told) >= 0;"
plant "limits bind nobody" bounds \
    engines/redis/bounds.c "return now.bind ? (uint64_t)settings.max_filter_bytes : none;" "return none;"
plant "maxmemory is not asked" bounds \
    engines/redis/bounds.c "if (have <= now.ceiling && bytes <= now.ceiling - have) return true;" "if (have < UINT64_MAX) return true;"
plant "jobs are bound by nothing" bounds \
    engines/redis/work.c "j->bounds = bounds_for_worker();" ""
plant "what cannot be evicted counts as room" bounds \
    engines/redis/bounds.c "return keys > 0 ? expiring / keys : 0;" "return 1;"
plant "a refused last chunk goes to replicas" bounds \
    engines/redis/arrive.c "        replicate_end(ctx, j->key);" "        replicate(ctx, j->key, c);"
plant "an add that failed goes to replicas" bounds \
    engines/redis/own.c "    if (!rc)
        redis.ReplicateVerbatim(ctx);" "    if (!rc || b->verb->tells_new)
        redis.ReplicateVerbatim(ctx);"
plant "whatever is loaded replaces the server's secret" bounds \
    engines/redis/settings.c "if (!is_secret_told) memcpy" "memcpy"
plant "a client tells the server its secret" bounds \
    engines/redis/secret.c "    if (bounds_bind())" "    if (false)"
plant "the secret is not in the append-only file" bounds \
    engines/redis/create.c "if (c->has_servers_secret) secret_note(ctx);" ""
plant "a file's secret is read and forgotten" bounds \
    engines/redis/secret.c "settings_adopt_secret((const uint8_t *)bytes);" "(void)bytes;"
plant "defragmentation moves what a job reads" unit \
    engines/redis/persist.c "!redis.DefragAlloc || v->job ||" "!redis.DefragAlloc ||"
plant "defragmentation moves what a job holds" unit \
    engines/redis/persist.c " || atomic_load(&v->users) > 1) return 0;" ") return 0;"
plant "secrets are in MONITOR" server_side \
    engines/redis/commands.c "if (has_secret[c - commands]) usage_hide(ctx, c->usage, argv, argc);" ""
plant "a seed is no secret" server_side \
    engines/redis/usage.c '" secret seed bytes "' '" secret bytes "'
plant "what may be left out is not told" server_side \
    engines/redis/usage.c "if (is_optional) a.flags |= REDIS_ARGUMENT_IS_OPTIONAL;" ""
finish
