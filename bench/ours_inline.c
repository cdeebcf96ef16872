/* SPDX-License-Identifier: MIT */
/* One key by tamis_inline.h, in a file of its own because it is compiled for the CPU that it runs
 * on, as a storage engine would be. */
#include "bench/bench.h"
#include "tamis_inline.h"

void inline_has(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit) {
    struct tamis_inline view = TAMIS_INLINE_INIT;
    if (tamis_inline_view(filter, &view)) return;
    const struct tamis_inline fast = view; /* its address is not shared: it stays in registers */
    for (size_t i = 0; i < n; i++) hit[i] = tamis_inline_has_u64(&fast, keys[i]);
}

uint64_t inline_chase(const void *filter, uint64_t key, size_t n) {
    struct tamis_inline view = TAMIS_INLINE_INIT;
    if (tamis_inline_view(filter, &view)) return key;
    const struct tamis_inline fast = view;
    while (n--) key = bench_next(key, tamis_inline_has_u64(&fast, key));
    return key;
}
