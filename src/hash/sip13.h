/* SPDX-License-Identifier: MIT */
/* For hash.c, kinds of other systems and tests. */
#ifndef TAMIS_HASH_SIP13_H
#define TAMIS_HASH_SIP13_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-1-3 of Aumasson and Bernstein (2012): a keyed hash, for keys that attackers may choose.
 * One round per word and three at the end, as in the standard libraries of several languages. */
uint64_t tamis__sip13(const uint8_t secret[16], const void *key, size_t len);

/* SipHash-2-4, the original: two rounds per word and four at the end. Bitcoin uses it. */
uint64_t tamis__sip24(const uint8_t secret[16], const void *key, size_t len);

/* SipHash-1-3 piece by piece. */
typedef struct tamis_sip13_sum {
    uint64_t a, b, c, d;
    uint64_t tail; /* the bytes after the last whole word */
    uint64_t len;  /* of all pieces so far */
} tamis_sip13_sum;

void tamis__sip13_start(tamis_sip13_sum *, const uint8_t secret[16]);
void tamis__sip13_more(tamis_sip13_sum *, const void *bytes, size_t len);
uint64_t tamis__sip13_end(const tamis_sip13_sum *);

#endif
