/* SPDX-License-Identifier: MIT */
/* Counts and values of many keys, in any form. */
#include "core/filter.h"
#include "tamis_engine.h"

/* Is the j-th key of a batch in the set? For kinds that do not count. */
static bool has_one(const tamis *f, tamis_batch b, size_t j) {
    return f->can & TAMIS_OWN_HASH ? tamis_has(f, b.key[j].bytes, b.key[j].len)
                                   : tamis_has_hash(f, b.hash[j]);
}

static void count_all(const tamis *f, tamis_keys keys, size_t n, uint64_t *counts) {
    tamis_batch_room room;
    for (size_t i = 0, m; i < n; i += m) {
        m = tamis__batch_of(f, n - i);
        const tamis_batch b = tamis__batch(f, keys, i, m, &room);
        if (f->can & TAMIS_CAN_COUNT)
            f->kind->counts->count(&f->image.body, b, counts + i);
        else
            for (size_t j = 0; j < m; j++) counts[i + j] = has_one(f, b, j);
    }
}

void tamis_count_many(const tamis *f, const struct tamis_key *keys, size_t n, uint64_t *counts) {
    count_all(f, (tamis_keys){.strings = keys}, n, counts);
}

void tamis_count_u64s(const tamis *f, const uint64_t *keys, size_t n, uint64_t *counts) {
    count_all(f, (tamis_keys){.numbers = keys}, n, counts);
}

void tamis_count_packed(const tamis *f, const void *keys, size_t width, size_t n,
                        uint64_t *counts) {
    count_all(f, (tamis_keys){.packed = keys, .width = width}, n, counts);
}

/* No kind that hashes keys itself has values. */
static void get_all(const tamis *f, tamis_keys keys, size_t n, uint64_t *values, uint8_t *hit) {
    uint64_t room[TAMIS_BATCH];
    for (size_t i = 0, m; i < n; i += m) {
        m = tamis__batch_of(f, n - i);
        tamis_get_hashes(f, tamis__hashes_of(f, keys, i, m, room), m, values + i, hit + i);
    }
}

void tamis_get_many(const tamis *f, const struct tamis_key *keys, size_t n, uint64_t *values,
                    uint8_t *hit) {
    get_all(f, (tamis_keys){.strings = keys}, n, values, hit);
}

void tamis_get_u64s(const tamis *f, const uint64_t *keys, size_t n, uint64_t *values,
                    uint8_t *hit) {
    get_all(f, (tamis_keys){.numbers = keys}, n, values, hit);
}

void tamis_get_packed(const tamis *f, const void *keys, size_t width, size_t n, uint64_t *values,
                      uint8_t *hit) {
    get_all(f, (tamis_keys){.packed = keys, .width = width}, n, values, hit);
}
