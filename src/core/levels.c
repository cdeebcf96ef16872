/* SPDX-License-Identifier: MIT */
/* Levels: how far away a key is, and which neighbour is nearest to it. */
#include "core/filter.h"
#include "tamis_engine.h"

unsigned tamis_level_hash(const tamis *f, uint64_t hash) {
    return f->can & TAMIS_CAN_LEVEL ? f->kind->special->levels->level(&f->image.body, hash)
                                    : tamis_has_hash(f, hash);
}

unsigned tamis_level(const tamis *f, const void *key, size_t len) {
    return tamis_level_hash(f, tamis_hash(f, key, len));
}

tamis_status tamis_merge_farther(tamis *into, const tamis *from) {
    const tamis_status rc = tamis__may(into, TAMIS_CAN_LEVEL, "have levels");
    if (rc) return rc;
    if (tamis_mismatch(into, from)) return TAMIS_MISMATCH;
    into->kind->special->levels->merge_farther(&into->image.body, &from->image.body);
    tamis__add_items(into, from->image.body.items);
    return TAMIS_OK;
}

static bool is_listed(uint64_t who, const uint64_t *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (list[i] == who) return true;
    return false;
}

size_t tamis_route(const struct tamis_link *links, size_t n, const uint64_t *visited,
                   size_t visited_count, const void *key, size_t len, unsigned *level) {
    size_t best = n;
    unsigned nearest = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_listed(links[i].neighbour, visited, visited_count)) continue;
        const unsigned found = tamis_level(links[i].filter, key, len);
        if (found == 0 || (nearest && found >= nearest)) continue;
        best = i;
        nearest = found;
    }
    if (level) *level = nearest;
    return best;
}
