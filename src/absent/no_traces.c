/* SPDX-License-Identifier: MIT */
/* In place of core/attribution.c, in small shared libraries without a kind that traces. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include <math.h>

#include "base/status.h"
#include "tamis_special.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "kind 28 (hierarchical) is not part of this build");
}

tamis_status tamis_record(tamis *filter, const void *flow, size_t flow_len, uint64_t offset,
                          const void *bytes, size_t len) {
    return refuse();
}

tamis_status tamis_trace(const tamis *filter, const void *excerpt, size_t len,
                         const struct tamis_key *flows, size_t flow_count, uint64_t max_offset,
                         tamis_traces *take, void *ctx) {
    return refuse();
}

double tamis_false_traces(const tamis *filter, size_t len, uint64_t flow_count,
                          uint64_t max_offset) {
    refuse();
    return NAN;
}
