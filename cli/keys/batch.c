/* SPDX-License-Identifier: MIT */
/* batch.c: questions and changes for a batch, by hashes or by keys.
 *
 * Nearly every filter works on hashes, which come with the batch. Those of other systems hash keys
 * their own way: they get the keys. A key that is longer than a block lies in a mapping, so that it
 * is in one piece for them too.
 */
#include "cli/cli.h"
#include "cli/keys/block.h"
#include "tamis_engine.h"

#include <string.h>

bool hashes_itself(const tamis *filter) {
    const struct tamis_info info = info_of(filter);
    return info.abilities & TAMIS_OWN_HASH;
}

/* Lines without a key are left out of the question. */
static void ask_by_keys(const tamis *filter, const struct batch *batch, uint8_t *hit) {
    for (size_t i = 0, n; i < batch->n; i += n) {
        const bool has_key = batch->key[i].bytes;
        for (n = 1; i + n < batch->n && (batch->key[i + n].bytes != NULL) == has_key;) n++;
        if (has_key)
            tamis_has_many(filter, batch->key + i, n, hit + i);
        else
            memset(hit + i, 0, n);
    }
}

/* The one place where a filter is asked about a batch. */
void batch_has_by(const tamis *filter, const struct batch *batch, const uint64_t *hash,
                  uint8_t *hit) {
    if (hash)
        tamis_has_hashes(filter, hash, batch->n, hit);
    else
        ask_by_keys(filter, batch, hit);
}

void batch_has(const tamis *filter, struct batch *batch) {
    if (batch->match && batch->keys->several.reach) /* another image may have had such a form */
        batch_has_several(filter, &batch->keys->several.there, batch, batch->hit);
    else
        batch_has_by(filter, batch, batch->keys->takes_keys ? NULL : batch->hash, batch->hit);
}

void batch_hash(const tamis *filter, const struct batch *batch, uint64_t *hash) {
    const struct tamis_key *key = &batch->key[0];
    const uintptr_t at = (uintptr_t)key->bytes - (uintptr_t)batch->line[0].bytes;
    /* A key in the mapping of a long line, not one that was rewritten. */
    if (batch->n == 1 && key->len > LONG_KEY && at < batch->line[0].len) {
        struct pieces pieces = pieces_of(key);
        hash[0] = tamis_hash_pieces(filter, next_piece, &pieces);
    } else {
        tamis_hash_many(filter, batch->key, batch->n, hash);
    }
}

void batch_count(const tamis *filter, struct batch *batch) {
    if (!batch->keys->takes_keys) {
        tamis_count_hashes(filter, batch->hash, batch->n, batch->value);
        return;
    }
    for (size_t i = 0; i < batch->n; i++) {
        const struct tamis_key *key = &batch->key[i];
        batch->value[i] = key->bytes ? tamis_count(filter, key->bytes, key->len) : 0;
    }
}

bool batch_has_one(const tamis *filter, const struct batch *batch, size_t i) {
    const struct tamis_key *key = &batch->key[i];
    return batch->keys->takes_keys ? tamis_has(filter, key->bytes, key->len)
                                   : tamis_has_hash(filter, batch->hash[i]);
}

tamis_status batch_add(tamis *filter, const struct batch *batch) {
    return batch->keys->takes_keys ? tamis_add_many(filter, batch->key, batch->n)
                                   : tamis_add_hashes(filter, batch->hash, batch->n);
}

tamis_status batch_add_one(tamis *filter, const struct batch *batch, size_t i) {
    const struct tamis_key *key = &batch->key[i];
    return batch->keys->takes_keys ? tamis_add(filter, key->bytes, key->len)
                                   : tamis_add_hash(filter, batch->hash[i]);
}

tamis_status batch_add_new(tamis *filter, const struct batch *batch, size_t i, bool *is_new) {
    const struct tamis_key *key = &batch->key[i];
    return batch->keys->takes_keys ? tamis_add_new(filter, key->bytes, key->len, is_new)
                                   : tamis_add_new_hash(filter, batch->hash[i], is_new);
}

tamis_status batch_remove(tamis *filter, const struct batch *batch, size_t i) {
    const struct tamis_key *key = &batch->key[i];
    return batch->keys->takes_keys ? tamis_remove(filter, key->bytes, key->len)
                                   : tamis_remove_hash(filter, batch->hash[i]);
}

tamis_status batch_build(tamis_builder *builder, const struct batch *batch) {
    return batch->keys->takes_keys ? tamis_builder_add_many(builder, batch->key, batch->n)
                                   : tamis_builder_add_hashes(builder, batch->hash, batch->n);
}
