/* SPDX-License-Identifier: MIT */
/* In place of core/retouch.c, in small shared libraries without a kind that can be retouched. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include "base/status.h"
#include "tamis_special.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "kind 24 (retouched) is not part of this build");
}

tamis_status tamis_retouch(tamis *filter, enum tamis_retouch_policy way, const uint64_t *trouble,
                           size_t trouble_count, const uint64_t *keys, size_t key_count,
                           uint64_t seed, struct tamis_retouch_stats *report) {
    return refuse();
}

tamis_status tamis_retouch_share(tamis *filter, double share, uint64_t seed,
                                 struct tamis_retouch_stats *report) {
    return refuse();
}

tamis_status tamis_retouch_undo(tamis *filter) {
    return refuse();
}
