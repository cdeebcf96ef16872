/* SPDX-License-Identifier: MIT */
/* For tests of the Redis module: a mock server. */
#ifndef TAMIS_TESTS_SUPPORT_MODULE_H
#define TAMIS_TESTS_SUPPORT_MODULE_H

#include <stdarg.h>
#include <stdio.h>

#include "engines/redis/value.h"

/* Its version, as reported to the module, and the last log line of the module. */
static struct {
    int version;
    char log[1024];
} test_server;

static inline int test_version(void) {
    return test_server.version;
}

static inline void test_log(redis_ctx *ctx, const char *level, const char *format, ...) {
    va_list list;
    (void)ctx, (void)level;
    va_start(list, format);
    vsnprintf(test_server.log, sizeof test_server.log, format, list);
    va_end(list);
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
    redis.GetContextFlags = test_no_flags;
    redis.Milliseconds = test_no_time;
    value_types = (types){
        .tamis = (redis_type *)(void *)&places[0],
        .bloom = (redis_type *)(void *)&places[1],
        .cuckoo = (redis_type *)(void *)&places[2],
        .countmin = (redis_type *)(void *)&places[3],
    };
}

#endif
