/* SPDX-License-Identifier: MIT */
/* Lies of cuckoo: fingerprints that fall out of their nests. */
#define tamis__cuckoo tamis__cuckoo_inside
#include "src/kinds/cuckoo.c"
#undef tamis__cuckoo

#include "tests/broken/liar.h"

#define SOUND                                                                                   \
    .word = {"buckets", "fingerprint", "sort"}, .plan = plan, .check = check, .probes = probes, \
    .rate = rate, .audit = audit, .measure = measure, .query = query, .add = add,               \
    .remove = remove_hash, .next = next, .sets = &(const tamis_sets){.merge = merge}, .room = room

/* When both buckets are full, one of their fingerprints is evicted, and dropped. */
static tamis_status add_over_victim(tamis_body *f, tamis_batch b) {
    const tamis_table t = cells_of(f);
    for (size_t i = 0; i < b.n; i++) {
        const print p = print_of(&t, b.hash[i]);
        uint64_t cell[SLOTS];
        tamis__bucket_read(&t, p.bucket, cell);
        if (put_down(&t, p))
            tamis__count_used(f, 1);
        else
            tamis__table_replace(&t, p.bucket, cell[(f->items + i) % SLOTS], p.value);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_victim = {
    SOUND, .name = "broken_victim", .contract = "one_key_a_million_times", .add = add_over_victim};
const tamis_kind tamis__broken_nest = {SOUND, .name = "broken_nest",
                                       .contract = "programs_agree_with_a_model",
                                       .add = add_over_victim};

/* Clears whatever comes first in the bucket of the key. */
static tamis_status remove_any(tamis_body *f, tamis_batch b) {
    const tamis_table t = cells_of(f);
    const print p = print_of(&t, *b.hash);
    uint64_t cell[SLOTS];
    if (!has_print(f, &t, p)) return tamis__fail(TAMIS_NOT_FOUND, "no such fingerprint");
    tamis__bucket_read(&t, p.bucket, cell);
    if (!cell[0]) return remove_hash(f, tamis__hashes(b.hash, 1));
    tamis__table_replace(&t, p.bucket, cell[0], 0);
    tamis__count_used(f, (uint64_t)-1);
    return TAMIS_OK;
}
const tamis_kind tamis__broken_neighbour = {SOUND, .name = "broken_neighbour",
                                            .contract = "remove_forgets_only_that_key",
                                            .remove = remove_any};

/* Merges all buckets but the last. */
static tamis_status merge_most(tamis_body *into, const tamis_body *from) {
    const tamis_table t = cells_of(into), other = cells_of(from);
    uint64_t cursor = 0;
    print p;
    if (tamis__used_of(from) > room(into)) return tamis__fail(TAMIS_FULL, "there is no room");
    while (next_print(from, &other, &cursor, &p))
        if (p.bucket + 1 < t.buckets) tamis__count_used(into, add_one(into, &t, p));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_last_bucket = {SOUND, .name = "broken_last_bucket",
                                              .contract = "programs_agree_with_a_model",
                                              .sets = &(const tamis_sets){.merge = merge_most}};
