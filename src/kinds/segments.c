/* SPDX-License-Identifier: MIT */
/* Payloads in segments: their number, and the gate. */
#include "kinds/segments.h"

tamis_status tamis__segments_by_records(const tamis_params *params, const tamis_census *census,
                                        uint64_t word[]) {
    (void)params;
    word[TAMIS_SEGMENTS] = tamis__segments_for(word, census->records);
    return TAMIS_OK;
}

tamis_status tamis__segments_check(const uint64_t word[], uint64_t tail, uint64_t *size) {
    const uint64_t segments = word[TAMIS_SEGMENTS], bytes = word[TAMIS_SEGMENT_BYTES];
    if (bytes > TAMIS_MAX_PAYLOAD_BYTES)
        return tamis__fail(TAMIS_TOO_LARGE, "%llu bytes of payload are over 2^56",
                           (unsigned long long)bytes);
    if (word[TAMIS_SEGMENT_KEYS] < TAMIS_SEGMENT_MIN_KEYS ||
        word[TAMIS_SEGMENT_KEYS] > TAMIS_SEGMENT_MAX_KEYS)
        return tamis__fail(TAMIS_CORRUPT, "damaged: segments of %llu keys",
                           (unsigned long long)word[TAMIS_SEGMENT_KEYS]);
    if (segments == 0 || segments > bytes / 8 || bytes % 8 != 0 || tail % 8 != 0 || tail > bytes ||
        tamis__segment_offsets_size(segments) > bytes - tail)
        return tamis__fail(TAMIS_CORRUPT, "damaged: %llu segments in %llu bytes",
                           (unsigned long long)segments, (unsigned long long)bytes);
    *size = bytes;
    return TAMIS_OK;
}

tamis_status tamis__segments_audit(const tamis_body *f, uint64_t tail, uint64_t min) {
    const uint64_t segments = f->word[TAMIS_SEGMENTS];
    const uint64_t end = f->size - tamis__segment_offsets_size(segments) - tail;
    uint64_t at = 0;
    for (uint64_t i = 0; i <= segments; i++) {
        const uint64_t start = tamis__segment_start(f, i);
        const bool is_placed = i == 0 ? start == 0 : start >= at && start - at >= min;
        if (!is_placed || start % 8 != 0 || start > end || (i == segments && start != end))
            return tamis__fail(TAMIS_CORRUPT, "damaged: segment %llu starts at %llu",
                               (unsigned long long)i, (unsigned long long)start);
        at = start;
    }
    return TAMIS_OK;
}
