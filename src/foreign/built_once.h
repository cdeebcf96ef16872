/* SPDX-License-Identifier: MIT */
/* Kinds of other systems that are made once may include this: what their questions share. */
#ifndef TAMIS_FOREIGN_BUILT_ONCE_H
#define TAMIS_FOREIGN_BUILT_ONCE_H

#include "kinds/kind.h"

/* query_keys: hashes keys as the origin does and asks for the hashes. A key of a length that cannot
 * be added is not there. */
static inline void tamis__ask_pressed(const tamis_press_facet *press, const tamis_body *f,
                                      const struct tamis_key *keys, size_t n, uint8_t *hit) {
    enum { TOGETHER = 256 };
    uint64_t hash[TOGETHER];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < TOGETHER ? n - i : TOGETHER;
        for (size_t j = 0; j < m; j++) hash[j] = press->hash(f->word, &keys[i + j]);
        press->query(f, hash, m, hit + i);
        for (size_t j = 0; j < m && press->key_bytes; j++)
            hit[i + j] &= keys[i + j].len == press->key_bytes;
    }
}

#endif
