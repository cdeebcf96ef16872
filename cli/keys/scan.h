/* SPDX-License-Identifier: MIT */
/* scan.h: only the files in cli/keys/ include this. Where a byte stands among the next 64.
 *
 * Lines and fields are short. A call of memchr for each costs more than looking at 64 bytes at once
 * and taking their ends from the bits of a word.
 */
#ifndef TAMIS_CLI_KEYS_SCAN_H
#define TAMIS_CLI_KEYS_SCAN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* This many bytes are read, even past the end of what is wanted: they must exist. */
enum { SCAN_BYTES = 64 };

#if defined(__SSE2__)

static inline uint64_t scan_16(const char *at, __m128i wanted) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
}

/* Bit i: at[i] is the byte. */
static inline uint64_t scan_for(const char *at, char byte) {
    const __m128i wanted = _mm_set1_epi8(byte);
    return scan_16(at, wanted) | scan_16(at + 16, wanted) << 16 | scan_16(at + 32, wanted) << 32 |
           scan_16(at + 48, wanted) << 48;
}

#else

static inline uint64_t scan_for(const char *at, char byte) {
    const uint64_t ones = 0x0101010101010101u, lows = 0x7f * ones;
    uint64_t found = 0;
    for (unsigned i = 0; i < SCAN_BYTES / 8; i++) {
        uint64_t eight = 0;
        for (unsigned j = 0; j < 8; j++) eight |= (uint64_t)(uint8_t)at[8 * i + j] << 8 * j;
        eight ^= (uint8_t)byte * ones;
        /* The high bit of each byte that is zero now, gathered into eight neighbours. */
        const uint64_t zeros = ~((((eight & lows) + lows) | eight) | lows);
        found |= ((zeros >> 7) * 0x0102040810204080u >> 56) << 8 * i;
    }
    return found;
}

#endif

/* How often a byte is there. */
static inline uint64_t scan_count(const char *bytes, size_t len, char byte) {
    uint64_t n = 0;
    for (size_t at = 0; at < len; at += SCAN_BYTES) {
        uint64_t found = scan_for(bytes + at, byte);
        if (len - at < SCAN_BYTES) found &= ((uint64_t)1 << (len - at)) - 1;
        for (; found; found &= found - 1) n++;
    }
    return n;
}

/* The place of the lowest bit of a word that has one. */
static inline unsigned lowest_bit(uint64_t word) {
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(word);
#else
    unsigned place = 0;
    while (!(word >> place & 1)) place++;
    return place;
#endif
}

#endif
