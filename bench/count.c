/* SPDX-License-Identifier: MIT */
/* Instructions per key: the same from run to run.
 *
 * Runs under callgrind (bench/count starts it) and turns counting on for one list of keys at a
 * time. Without callgrind or its header, nothing is counted. */
#include <stdlib.h>

#include "bench/bench.h"

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define CAN_COUNT 1
#endif
#endif

void count_instructions(struct event *e) {
#ifdef CAN_COUNT
    struct keys k;
    const size_t n = e->set.chunk;
    uint8_t *hit = malloc(n);
    if (!hit || !keys_make(&k, e->keys, 8)) exit(2);
    for (size_t i = 0; i < e->count; i++) {
        const struct contestant *c = &e->all[i];
        if (c->side == FLOOR || !c->filter || !c->filter->handle) continue;
        for (int q = 0; q < CHASE; q++) {
            char label[128];
            snprintf(label, sizeof label, "%s|%s|%s|%zu", c->name, way_of(c), question_names[q], n);
            c->calls->has(c->filter->handle, k.ask[q], n, hit);
            CALLGRIND_START_INSTRUMENTATION;
            CALLGRIND_ZERO_STATS;
            c->calls->has(c->filter->handle, k.ask[q], n, hit);
            CALLGRIND_DUMP_STATS_AT(label);
            CALLGRIND_STOP_INSTRUMENTATION;
        }
    }
    keys_free(&k);
    free(hit);
#else
    (void)e;
    fprintf(stderr,
            "bench: built without valgrind/callgrind.h (tools/setup bench): cannot count\n");
    exit(2);
#endif
}
