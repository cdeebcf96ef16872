/* SPDX-License-Identifier: MIT */
/* Retouching: clears bits to stop false positives, at the cost of some keys. */
#include "core/filter.h"

tamis_status tamis_retouch(tamis *f, enum tamis_retouch_policy way, const uint64_t *trouble,
                           size_t trouble_count, const uint64_t *keys, size_t key_count,
                           uint64_t seed, struct tamis_retouch_stats *report) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_RETOUCH, "be retouched");
    if (rc) return rc;
    if (way > TAMIS_RETOUCH_RATIO)
        return tamis__fail(TAMIS_INVALID, "%d is not a way to retouch: 0 to %d", (int)way,
                           TAMIS_RETOUCH_RATIO);
    if ((way == TAMIS_RETOUCH_KEYS || way == TAMIS_RETOUCH_RATIO) && key_count == 0)
        return tamis__fail(TAMIS_INVALID, "this way to retouch needs the keys that are to be kept");

    const uint64_t counters = f->kind->special->retouch->scratch(f->image.body.word);
    tamis_block block;
    uint32_t *scratch = tamis__get(&f->allocator, 2 * counters * sizeof *scratch, &block);
    if (!scratch) return TAMIS_NOMEM;
    const tamis_retouch_task task = {
        way, trouble, keys, trouble_count, key_count, seed, scratch, scratch + counters,
    };
    struct tamis_retouch_stats done = {0, 0, 0};
    f->kind->special->retouch->clear(&f->image.body, &task, &done);
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
    f->kind->special->retouch->clear_share(&f->image.body, share, seed, &done);
    if (report) *report = done;
    return TAMIS_OK;
}

tamis_status tamis_retouch_undo(tamis *f) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_RETOUCH, "be retouched");
    if (!rc) f->kind->special->retouch->undo(&f->image.body);
    return rc;
}
