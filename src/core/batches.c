/* SPDX-License-Identifier: MIT */
/* Counting and getting for many keys: in whatever form they come, they go in batches to the calls
 * on hashes; to the call on one key where the kind hashes keys itself. */
#include "core/filter.h"
#include "tamis_engine.h"

static bool hashes_itself(const tamis *f) {
    return f->image.hasher.mode == TAMIS_HASH_OWN;
}

static void count_own(const tamis *f, tamis_keys keys, size_t from, size_t n, uint64_t *counts) {
    tamis_spelled room;
    const struct tamis_key *key = tamis__strings_of(keys, from, n, &room);
    for (size_t i = 0; i < n; i++) counts[i] = tamis_count(f, key[i].bytes, key[i].len);
}

static void count_all(const tamis *f, tamis_keys keys, size_t n, uint64_t *counts) {
    uint64_t room[TAMIS_BATCH];
    for (size_t i = 0, m; i < n; i += m) {
        m = tamis__batch_of(f, n - i);
        if (hashes_itself(f))
            count_own(f, keys, i, m, counts + i);
        else
            tamis_count_hashes(f, tamis__hashes_of(f, keys, i, m, room), m, counts + i);
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
