/* SPDX-License-Identifier: MIT */
/* Merging built filters means building again, so it is part of the builder. */
#include "build/builder.h"
#include "core/filter.h"

/* How either payload is cut into segments does not matter. */
static tamis_status may_merge(const tamis *into, const tamis *from) {
    const tamis_status rc = tamis__may(into, TAMIS_CAN_MERGE, "be merged");
    const unsigned free_words = tamis__words_made(into->kind) | into->kind->build->cut;
    return rc ? rc : tamis__mismatch(into, from, free_words) ? TAMIS_MISMATCH : TAMIS_OK;
}

static tamis_status merge_built(tamis *into, const tamis *from) {
    const struct tamis_options filter = tamis__options_of(into);
    const struct tamis_builder_options options = {.struct_size = sizeof options, .filter = &filter};
    tamis_builder *b;
    tamis *merged = NULL;
    tamis_status rc = may_merge(into, from);
    if (!rc) rc = tamis_builder_continue(&b, into, &options);
    if (rc) return rc;
    rc = tamis__builder_take(b, from);
    if (!rc) rc = tamis_builder_finish(b, &merged);
    tamis_builder_free(b);
    if (rc) return rc;
    /* Only the payload is exchanged; handles stay valid. */
    rc = tamis__install(into, &merged->image.body, &merged->payload);
    tamis_free(merged);
    return rc;
}

tamis_status tamis_merge(tamis *into, const tamis *from) {
    return into->kind->build && !into->kind->build->whole ? merge_built(into, from)
                                                          : tamis__merge_payloads(into, from);
}
