/* SPDX-License-Identifier: MIT */
/* For the formats of bits-and-blooms: what both encode of a filter. */
#ifndef TAMIS_FOREIGN_BITS_AND_BLOOMS_H
#define TAMIS_FOREIGN_BITS_AND_BLOOMS_H

#include "foreign/format.h"

enum { TAMIS_BNB_BITS, TAMIS_BNB_HASHES, TAMIS_BNB_ROOM };
enum { TAMIS_BNB_AT_LENGTH = 16, TAMIS_BNB_HEADER = 24 };

/* The byte order of a set of bits. */
enum { TAMIS_BNB_BIG, TAMIS_BNB_LITTLE };

uint64_t tamis__bnb_get(const uint8_t *, uint64_t order);
void tamis__bnb_put(uint8_t *, uint64_t order, uint64_t);

/* Turns the fields of a filter, with `words` words of bits present, into an import result. */
tamis_status tamis__bnb_arrive(const char *format, uint64_t bits, uint64_t hashes, uint64_t length,
                               uint64_t words, tamis_import_result *);

/* The number of words of 64 bits the origin would write: those of the length. */
uint64_t tamis__bnb_words(const tamis_body *);

#endif
