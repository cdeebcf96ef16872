/* SPDX-License-Identifier: MIT */
/* Values of keys, and the labels they carry. */
#include <string.h>

#include "core/filter.h"
#include "tamis_engine.h"

/* ---- Values --------------------------------------------------------------------------------- */

void tamis_get_hashes(const tamis *f, const uint64_t *hashes, size_t n, uint64_t *values,
                      uint8_t *hit) {
    if (f->can & TAMIS_CAN_GET)
        f->kind->values->get(&f->image.body, tamis__hashes(hashes, n), values, hit);
    else
        memset(hit, 0, n);
}

bool tamis_get_hash(const tamis *f, uint64_t hash, uint64_t *value) {
    uint8_t hit;
    tamis_get_hashes(f, &hash, 1, value, &hit);
    return hit;
}

bool tamis_get(const tamis *f, const void *key, size_t len, uint64_t *value) {
    return tamis_get_hash(f, tamis_hash(f, key, len), value);
}

bool tamis_get_u64(const tamis *f, uint64_t key, uint64_t *value) {
    return tamis_get_hash(f, tamis__hash_u64(&f->image.hasher, key), value);
}

tamis_status tamis_put_hash(tamis *f, uint64_t hash, uint64_t value) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_PUT, "set values");
    if (!rc) rc = tamis__value_fits(f->kind, f->image.body.word, value);
    if (!rc) rc = f->kind->values->put(&f->image.body, tamis__hashes(&hash, 1), &value);
    if (!rc && f->kind->add) tamis__add_items(f, 1);
    return rc;
}

tamis_status tamis_put(tamis *f, const void *key, size_t len, uint64_t value) {
    return tamis_put_hash(f, tamis_hash(f, key, len), value);
}

tamis_status tamis_put_u64(tamis *f, uint64_t key, uint64_t value) {
    return tamis_put_hash(f, tamis__hash_u64(&f->image.hasher, key), value);
}

tamis_status tamis__value_fits(const tamis_kind *kind, const uint64_t word[], uint64_t value) {
    const uint64_t max = kind->values->max_value(word);
    if (value <= max) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "value %llu is too large: %s holds values from 0 to %llu",
                       (unsigned long long)value, kind->name, (unsigned long long)max);
}

/* ---- Labels --------------------------------------------------------------------------------- */

size_t tamis_labels_hash(const tamis *f, uint64_t hash, uint64_t *labels, size_t room) {
    return f->can & TAMIS_CAN_LABEL
               ? f->kind->special->labels->find(&f->image.body, hash, labels, room)
               : 0;
}

size_t tamis_labels(const tamis *f, const void *key, size_t len, uint64_t *labels, size_t room) {
    return tamis_labels_hash(f, tamis_hash(f, key, len), labels, room);
}

uint64_t tamis_label_count(const tamis *f) {
    return f->can & TAMIS_CAN_LABEL ? f->kind->special->labels->count(&f->image.body) : 0;
}

const char *tamis_label_name(const tamis *f, uint64_t label) {
    return label < tamis_label_count(f) ? f->kind->special->labels->name(&f->image.body, label)
                                        : NULL;
}
