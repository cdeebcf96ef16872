/* Lies of cuckoo: fingerprints that fall out of their nests. */
#define tamis__cuckoo tamis__cuckoo_inside
#include "src/kinds/cuckoo.c"
#undef tamis__cuckoo

#include "tests/broken/liar.h"

#define SOUND                                                                                      \
    .word = {"buckets", "fingerprint", "sort"}, .plan = plan, .check = check, .probes = probes,    \
    .rate = rate, .audit = audit, .query = query, .add = add, .remove = remove_hash, .next = next, \
    .room = room, .merge = merge, .measure = measure

/* When both buckets are full one of their fingerprints makes way, and is dropped. */
static tamis_status add_over_victim(tamis_body *f, const uint64_t *hash, size_t n) {
    const tamis_table t = cells_of(f);
    for (size_t i = 0; i < n; i++) {
        const print p = print_of(&t, hash[i]);
        uint64_t cell[SLOTS];
        tamis__bucket_read(&t, p.bucket, cell);
        if (put_down(&t, p))
            count_used(f, 1);
        else
            tamis__table_replace(&t, p.bucket, cell[(f->items + i) % SLOTS], p.value);
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_victim = {
    SOUND, .name = "broken_victim", .contract = "one_key_a_million_times", .add = add_over_victim};
