/* SPDX-License-Identifier: MIT */
#include "tests/support/failing_allocator.h"

#include <stdlib.h>
#include <string.h>

static void *take(void *ctx, size_t size) {
    test_failing_allocator *p = ctx;
    p->calls++;
    if (p->fail_at && (p->calls == p->fail_at || (p->for_ever && p->calls > p->fail_at)))
        return NULL;
    void *memory = malloc(size ? size : 1);
    if (!memory) abort();
    memset(memory, 0xa5, size); /* contents must not matter */
    p->blocks++;
    p->bytes += size;
    if (p->bytes > p->max_bytes) p->max_bytes = p->bytes;
    return memory;
}

static void put_back(void *ctx, void *memory, size_t size) {
    test_failing_allocator *p = ctx;
    p->blocks--;
    p->bytes -= size;
    free(memory);
}

struct tamis_allocator test_allocator(test_failing_allocator *p) {
    return (struct tamis_allocator){take, put_back, p, false};
}
