/* SPDX-License-Identifier: MIT */
/* FNV-1, 64 bits. */
#include "foreign/foreign_hashes.h"

uint64_t tamis__fnv1_64(const struct tamis_key *key) {
    const uint8_t *byte = key->bytes;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < key->len; i++) hash = (hash * 0x100000001b3) ^ byte[i];
    return hash;
}
