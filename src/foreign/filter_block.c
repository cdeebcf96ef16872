/* SPDX-License-Identifier: MIT */
/* The filters of a table in one block. */
#include "foreign/filter_block.h"

#include "bits/bits.h"

/* LevelDB writes 11. A larger number than this is not valid for any file. */
enum { MAX_LG = 40 };

static uint64_t start_of(const tamis_filter_block *b, uint64_t i) {
    return tamis__get32(b->bytes + b->starts + 4 * i);
}

tamis_input tamis__filter_block_at(const tamis_filter_block *b, uint64_t i) {
    const uint64_t from = start_of(b, i);
    return (tamis_input){b->bytes + from, start_of(b, i + 1) - from, NULL};
}

tamis_status tamis__filter_block_open(const uint8_t *bytes, uint64_t size, tamis_filter_block *b) {
    if (size < TAMIS_FILTER_BLOCK_END)
        return tamis__bad_format("leveldb-block", "%llu bytes, the end alone has %d",
                                 (unsigned long long)size, TAMIS_FILTER_BLOCK_END);
    const uint64_t end = size - TAMIS_FILTER_BLOCK_END;
    *b = (tamis_filter_block){.bytes = bytes, .size = size};
    b->starts = tamis__get32(bytes + end);
    b->lg = bytes[size - 1];
    if (b->starts > end || (end - b->starts) % 4 || b->lg > MAX_LG)
        return tamis__bad_format("leveldb-block",
                                 "the starts of the filters begin at %llu of %llu bytes, by 2^%u",
                                 (unsigned long long)b->starts, (unsigned long long)size, b->lg);
    b->count = (end - b->starts) / 4;
    for (uint64_t i = 0; i < b->count; i++)
        if (start_of(b, i) > start_of(b, i + 1))
            return tamis__bad_format("leveldb-block", "filter %llu ends at %llu, before it starts",
                                     (unsigned long long)i, (unsigned long long)start_of(b, i + 1));
    return TAMIS_OK;
}
