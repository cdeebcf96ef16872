/* SPDX-License-Identifier: MIT */
/* Change logs: which cells changed since the log was last cleared. */
#include "core/filter.h"

bool tamis_next_change(const tamis *f, uint64_t *cursor, uint64_t *position, bool *is_set) {
    if (!(f->can & TAMIS_CAN_LOG)) return false;
    return f->kind->special->log->next(&f->image.body, cursor, position, is_set);
}

tamis_status tamis_clear_changes(tamis *f) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_LOG, "log changes");
    if (!rc) f->kind->special->log->forget(&f->image.body);
    return rc;
}
