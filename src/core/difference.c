/* SPDX-License-Identifier: MIT */
/* Differences of two filters, for kinds that can list them. */
#include "core/filter.h"

/* Checks that the kind can, and both match; *block is its memory. */
static tamis_status may_differ(const tamis *first, const tamis *second, tamis_block *block,
                               uint8_t **scratch) {
    if (!(first->can & TAMIS_CAN_DIFFER)) return tamis__cannot(first, "list differences");
    if (tamis_mismatch(first, second)) return TAMIS_MISMATCH;
    const uint64_t size = first->kind->special->differ->scratch(first->image.body.word);
    *scratch = tamis__get(&first->allocator, size, block);
    return *scratch ? TAMIS_OK : TAMIS_NOMEM;
}

tamis_status tamis_difference(const tamis *first, const tamis *second, tamis_difference_fn *take,
                              void *ctx) {
    tamis_block block;
    uint8_t *scratch;
    tamis_status rc = may_differ(first, second, &block, &scratch);
    if (rc) return rc;
    rc = first->kind->special->differ->list(&first->image.body, &second->image.body, scratch, take,
                                            ctx);
    tamis__block_free(&first->allocator, &block);
    return rc;
}

tamis_status tamis_difference_size(const tamis *first, const tamis *second,
                                   struct tamis_estimate *keys) {
    tamis_block block;
    uint8_t *scratch;
    tamis_status rc = may_differ(first, second, &block, &scratch);
    if (rc) return rc;
    rc = first->kind->special->differ->size(&first->image.body, &second->image.body, scratch, keys);
    tamis__block_free(&first->allocator, &block);
    return rc;
}
