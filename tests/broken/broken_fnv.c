/* SPDX-License-Identifier: MIT */
/* Lies of fnv: hashes that ignore parts of the key, or mix it too lightly. */
#define tamis__fnv tamis__fnv_inside
#include "tests/samples/fnv.c"
#undef tamis__fnv

#include "tests/broken/liar.h"

#define SOUND                                                                                     \
    .word = {"bits"}, .traits = TAMIS_OWN_HASH | TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, .plan = plan, \
    .check = check, .probes = probes, .rate = rate, .audit = audit, .measure = measure,           \
    .query = query, .sets = &(const tamis_sets){.merge = tamis__bitmap_merge}, .add = add

/* Hashes the first 32 bytes of a key. */
static struct tamis_key shortened(struct tamis_key key) {
    if (key.len > 32) key.len = 32;
    return key;
}
static void query_short(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++) {
        const struct tamis_key key = shortened(b.key[i]);
        query(f, tamis__keys(&key, 1), hit + i);
    }
}
static tamis_status add_short(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) {
        const struct tamis_key key = shortened(b.key[i]);
        add(f, tamis__keys(&key, 1));
    }
    return TAMIS_OK;
}
const tamis_kind tamis__broken_prefix = {SOUND, .name = "broken_prefix",
                                         .contract = "strange_keys_change_no_rate",
                                         .query = query_short, .add = add_short};

/* Adds up the bytes of a key. */
static uint64_t position_of_sum(const tamis_body *f, const struct tamis_key *key) {
    const uint8_t *p = key->bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < key->len; i++) sum += p[i];
    return sum * 0x9e3779b97f4a7c15 % f->word[BITS];
}
static void query_sums(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t i = 0; i < b.n; i++)
        hit[i] = tamis__bit_get(f->bytes, position_of_sum(f, &b.key[i]));
}
static tamis_status add_sums(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++) tamis__bit_set(f->bytes, position_of_sum(f, &b.key[i]));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_sum = {SOUND, .name = "broken_sum",
                                      .contract = "strange_keys_change_no_rate",
                                      .query = query_sums, .add = add_sums};

/* Takes the empty key for none. */
static tamis_status add_unless_empty(tamis_body *f, tamis_batch b) {
    for (size_t i = 0; i < b.n; i++)
        if (b.key[i].len) add(f, tamis__keys(b.key + i, 1));
    return TAMIS_OK;
}
const tamis_kind tamis__broken_empty = {SOUND, .name = "broken_empty",
                                        .contract = "strange_keys_change_no_rate",
                                        .add = add_unless_empty};
