/* SPDX-License-Identifier: MIT */
/* For hash.c and its vector kernels: hashes of byte strings, many at once.
 *
 * A kernel hashes strings from the front of the list in groups of its own width and returns their
 * number; hash.c does the rest one by one. */
#ifndef TAMIS_HASH_STRINGS_H
#define TAMIS_HASH_STRINGS_H

#include "cpu/cpu.h"
#include "tamis_inline.h"

#if TAMIS_HAS_X86
size_t tamis__sip13_strings_avx512(const uint8_t secret[16], const struct tamis_key *keys, size_t n,
                                   uint64_t *hashes);
#endif

#endif
