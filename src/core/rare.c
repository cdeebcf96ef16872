/* What few kinds can: change logs, levels and routes, retouching. */
#include "core/filter.h"

/* ---- Changes -------------------------------------------------------------------------------- */

bool tamis_next_change(const tamis *f, uint64_t *cursor, uint64_t *position, bool *is_set) {
    if (!(tamis__abilities(f->kind, f->image.body.word) & TAMIS_CAN_LOG)) return false;
    return f->kind->log->next(&f->image.body, cursor, position, is_set);
}

tamis_status tamis_clear_changes(tamis *f) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_LOG, "log changes");
    if (!rc) f->kind->log->forget(&f->image.body);
    return rc;
}

/* ---- Differences ---------------------------------------------------------------------------- */

/* Both match and can; *block is the memory that the kind wants. */
static tamis_status may_differ(const tamis *first, const tamis *second, tamis_block *block,
                               uint8_t **scratch) {
    if (!(tamis__abilities(first->kind, first->image.body.word) & TAMIS_CAN_DIFFER))
        return tamis__cannot(first, "list differences");
    if (tamis_mismatch(first, second)) return TAMIS_MISMATCH;
    const uint64_t size = first->kind->differ->scratch(first->image.body.word);
    *scratch = tamis__get(&first->allocator, size, block);
    return *scratch ? TAMIS_OK : TAMIS_NOMEM;
}

tamis_status tamis_difference(const tamis *first, const tamis *second, tamis_difference_fn *take,
                              void *ctx) {
    tamis_block block;
    uint8_t *scratch;
    tamis_status rc = may_differ(first, second, &block, &scratch);
    if (rc) return rc;
    rc = first->kind->differ->list(&first->image.body, &second->image.body, scratch, take, ctx);
    tamis__block_free(&first->allocator, &block);
    return rc;
}

tamis_status tamis_difference_size(const tamis *first, const tamis *second,
                                   struct tamis_estimate *keys) {
    tamis_block block;
    uint8_t *scratch;
    tamis_status rc = may_differ(first, second, &block, &scratch);
    if (rc) return rc;
    rc = first->kind->differ->size(&first->image.body, &second->image.body, scratch, keys);
    tamis__block_free(&first->allocator, &block);
    return rc;
}

/* ---- Levels --------------------------------------------------------------------------------- */

unsigned tamis_level_hash(const tamis *f, uint64_t hash) {
    return f->kind->levels ? f->kind->levels->level(&f->image.body, hash) : tamis_has_hash(f, hash);
}

unsigned tamis_level(const tamis *f, const void *key, size_t len) {
    return tamis_level_hash(f, tamis_hash(f, key, len));
}

tamis_status tamis_merge_farther(tamis *into, const tamis *from) {
    const tamis_status rc = tamis__may(into, TAMIS_CAN_LEVEL, "have levels");
    if (rc) return rc;
    if (tamis_mismatch(into, from)) return TAMIS_MISMATCH;
    into->kind->levels->merge_farther(&into->image.body, &from->image.body);
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

/* ---- Retouching ----------------------------------------------------------------------------- */

tamis_status tamis_retouch(tamis *f, enum tamis_retouch_policy way, const uint64_t *trouble,
                           size_t trouble_count, const uint64_t *keys, size_t key_count,
                           uint64_t seed, struct tamis_retouch_stats *report) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_RETOUCH, "be retouched");
    if (rc) return rc;
    if (way > TAMIS_RETOUCH_RATIO)
        return tamis__fail(TAMIS_INVALID, "there is no way %d to retouch: 0 to %d", (int)way,
                           TAMIS_RETOUCH_RATIO);
    if ((way == TAMIS_RETOUCH_KEYS || way == TAMIS_RETOUCH_RATIO) && key_count == 0)
        return tamis__fail(TAMIS_INVALID, "this way to retouch needs the keys that are to be kept");

    const uint64_t counters = f->kind->retouch->scratch(f->image.body.word);
    tamis_block block;
    uint32_t *scratch = tamis__get(&f->allocator, 2 * counters * sizeof *scratch, &block);
    if (!scratch) return TAMIS_NOMEM;
    const tamis_retouch_task task = {
        way, trouble, keys, trouble_count, key_count, seed, scratch, scratch + counters,
    };
    struct tamis_retouch_stats done = {0, 0, 0};
    f->kind->retouch->clear(&f->image.body, &task, &done);
    tamis__block_free(&f->allocator, &block);
    if (report) *report = done;
    return TAMIS_OK;
}

tamis_status tamis_retouch_share(tamis *f, double share, uint64_t seed,
                                 struct tamis_retouch_stats *report) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_RETOUCH, "be retouched");
    if (rc) return rc;
    if (!(share >= 0 && share <= 1))
        return tamis__fail(TAMIS_INVALID, "share=%g is not from 0 to 1", share);
    struct tamis_retouch_stats done = {0, 0, 0};
    f->kind->retouch->clear_share(&f->image.body, share, seed, &done);
    if (report) *report = done;
    return TAMIS_OK;
}

tamis_status tamis_retouch_undo(tamis *f) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_RETOUCH, "be retouched");
    if (!rc) f->kind->retouch->undo(&f->image.body);
    return rc;
}
