/* The gate of payloads that are cut into shards. */
#include "kinds/segments.h"

tamis_status tamis__shards_check(const uint64_t word[], uint64_t tail, uint64_t *size) {
    const uint64_t shards = word[TAMIS_SHARDS], bytes = word[TAMIS_SHARD_BYTES];
    if (bytes > TAMIS_MAX_PAYLOAD_BYTES)
        return tamis__fail(TAMIS_TOO_LARGE, "%llu bytes of payload are over 2^56",
                           (unsigned long long)bytes);
    if (word[TAMIS_SHARD_KEYS] < TAMIS_SHARD_LEAST || word[TAMIS_SHARD_KEYS] > TAMIS_SHARD_MOST)
        return tamis__fail(TAMIS_CORRUPT, "damaged: shards of %llu keys",
                           (unsigned long long)word[TAMIS_SHARD_KEYS]);
    if (shards == 0 || shards > bytes / 8 || bytes % 8 != 0 || tail % 8 != 0 || tail > bytes ||
        tamis__shard_offsets_size(shards) > bytes - tail)
        return tamis__fail(TAMIS_CORRUPT, "damaged: %llu shards in %llu bytes",
                           (unsigned long long)shards, (unsigned long long)bytes);
    *size = bytes;
    return TAMIS_OK;
}

tamis_status tamis__shards_audit(const tamis_body *f, uint64_t tail, uint64_t least) {
    const uint64_t shards = f->word[TAMIS_SHARDS];
    const uint64_t end = f->size - tamis__shard_offsets_size(shards) - tail;
    uint64_t at = 0;
    for (uint64_t i = 0; i <= shards; i++) {
        const uint64_t start = tamis__shard_start(f, i);
        const bool is_placed = i == 0 ? start == 0 : start >= at && start - at >= least;
        if (!is_placed || start % 8 != 0 || start > end || (i == shards && start != end))
            return tamis__fail(TAMIS_CORRUPT, "damaged: shard %llu starts at %llu",
                               (unsigned long long)i, (unsigned long long)start);
        at = start;
    }
    return TAMIS_OK;
}
