/* SPDX-License-Identifier: MIT */
/* The formats of bits-and-blooms may include this: what both say about one filter. */
#ifndef TAMIS_FOREIGN_BITS_AND_BLOOMS_H
#define TAMIS_FOREIGN_BITS_AND_BLOOMS_H

#include "foreign/format.h"

enum { TAMIS_BNB_BITS, TAMIS_BNB_HASHES, TAMIS_BNB_ROOM };
enum { TAMIS_BNB_AT_LENGTH = 16, TAMIS_BNB_HEADER = 24 };

/* Which way round a set of bits is written. */
enum { TAMIS_BNB_BIG, TAMIS_BNB_LITTLE };

uint64_t tamis__bnb_get(const uint8_t *, uint64_t order);
void tamis__bnb_put(uint8_t *, uint64_t order, uint64_t);

/* What a filter says of itself, with `words` words of bits really there, becomes an arrival. */
tamis_status tamis__bnb_arrive(const char *format, uint64_t bits, uint64_t hashes, uint64_t length,
                               uint64_t words, tamis_import_result *);

/* How many words of 64 bits the origin would write: those of the length. */
uint64_t tamis__bnb_words(const tamis_body *);

#endif
