/* Tests of the module of Redis may include this: what a server that is none has to answer. */
#ifndef TAMIS_TESTS_HELP_MODULE_H
#define TAMIS_TESTS_HELP_MODULE_H

#include "engines/redis/value.h"

static inline size_t test_size_of(void *memory) {
    return memory ? 1 : 0;
}

static inline int test_no_flags(redis_ctx *ctx) {
    (void)ctx;
    return 0;
}

static inline long long test_no_time(void) {
    return 1000000;
}

/* Four types, of which only the addresses count. */
static inline void test_be_a_server(void) {
    static uint8_t places[4];
    redis.MallocSize = test_size_of, redis.GetContextFlags = test_no_flags;
    redis.Milliseconds = test_no_time;
    value_types = (types){
        .tamis = (redis_type *)(void *)&places[0],
        .bloom = (redis_type *)(void *)&places[1],
        .cuckoo = (redis_type *)(void *)&places[2],
        .countmin = (redis_type *)(void *)&places[3],
    };
}

#endif
