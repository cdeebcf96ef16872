/* SPDX-License-Identifier: MIT */
/* Queries of other systems' kinds that are built once. */
#include "foreign/built_once.h"

void tamis__query_built(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    enum { TOGETHER = 256 };
    const tamis_build_whole *whole = f->kind->build->whole;
    uint64_t hash[TOGETHER];
    for (size_t i = 0, m; i < b.n; i += m) {
        m = b.n - i < TOGETHER ? b.n - i : TOGETHER;
        for (size_t j = 0; j < m; j++) hash[j] = whole->hash(f->word, &b.key[i + j]);
        whole->query(f, tamis__hashes(hash, m), hit + i);
        for (size_t j = 0; j < m && whole->key_bytes; j++)
            hit[i + j] &= b.key[i + j].len == whole->key_bytes;
    }
}
