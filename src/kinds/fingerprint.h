/* SPDX-License-Identifier: MIT */
/* For fingerprint, its kernels, core and the format FPS: the layout of a payload, and filling
 * one. */
#ifndef TAMIS_KINDS_FINGERPRINT_H
#define TAMIS_KINDS_FINGERPRINT_H

#include "bits/bits.h"
#include "kinds/kind.h"

#define TAMIS_FINGERPRINT "fingerprint"

enum { TAMIS_PRINT_WIDTH, TAMIS_PRINT_ROWS, TAMIS_PRINT_IDS };
enum { TAMIS_PRINT_MAX_BITS = 1 << 16, TAMIS_PRINT_MAX_BYTES = TAMIS_PRINT_MAX_BITS / 8 };
#define TAMIS_PRINT_MAX_ROWS UINT32_MAX

/* Ids are lines of text without line or field separators. */
enum { TAMIS_PRINT_MIN_LETTER = 32 };

/* Bytes of a fingerprint, and bytes of its row. */
TAMIS_FN uint64_t tamis__fingerprint_bytes(uint64_t width) {
    return (width + 7) / 8;
}

TAMIS_FN uint64_t tamis__fingerprint_stride(uint64_t width) {
    return (width + 63) / 64 * 8;
}

/* Is a bit past the last one set? */
TAMIS_FN bool tamis__fingerprint_strays(const uint8_t *print, uint64_t width) {
    return width % 8 && print[width / 8] >> width % 8;
}

TAMIS_FN uint64_t tamis__fingerprint_set_bits(const uint8_t *print, uint64_t bytes) {
    uint64_t set = 0, at = 0;
    for (; at + 8 <= bytes; at += 8) set += tamis__popcount64(tamis__get64(print + at));
    for (; at < bytes; at++) set += tamis__popcount64(print[at]);
    return set;
}

/* A fold of a fingerprint is the xor of its pieces of 256 bits. Where two fingerprints differ in D
 * bits, their folds differ in at most D. Fingerprints that are not much longer have none. */
enum { TAMIS_FOLD_BYTES = 32, TAMIS_FOLD_FROM_BITS = 513 };

TAMIS_FN void tamis__fingerprint_fold(const uint8_t *print, uint64_t stride, uint8_t *fold) {
    uint64_t word[TAMIS_FOLD_BYTES / 8] = {0};
    for (uint64_t at = 0; at < stride; at += 8)
        word[at % TAMIS_FOLD_BYTES / 8] ^= tamis__get64(print + at);
    for (unsigned i = 0; i < TAMIS_FOLD_BYTES / 8; i++) tamis__put64(fold + i * 8, word[i]);
}

/* Fills a payload of zeros: every fingerprint is counted, in any order; then rows are added from 0
 * on, with the same fingerprints, without stray bits; then it is closed. */
void tamis__fingerprints_tally(tamis_body *, uint64_t set_bits);
void tamis__fingerprints_open(tamis_body *);

/* Where to write the fingerprint of the next row, whose bits were already counted. */
uint8_t *tamis__fingerprints_place(tamis_body *, uint64_t row, uint64_t set_bits, const void *id,
                                   uint64_t id_len);
void tamis__fingerprints_close(tamis_body *);

/* A pointer to a row. */
void tamis__fingerprints_at(const tamis_body *, uint64_t row, const char **id,
                            const uint8_t **print);

/* ---- Kernels ---- */

/* Bits that a fingerprint has in common with each of n rows. */
typedef void tamis_fingerprint_kernel(const uint8_t *rows, size_t n, uint64_t stride,
                                      const uint8_t *print, uint32_t *common);
tamis_fingerprint_kernel tamis__fingerprint_common_avx2, tamis__fingerprint_common_avx512;

TAMIS_HOT void tamis__fingerprint_common(const uint8_t *rows, size_t n, uint64_t stride,
                                         const uint8_t *print, uint32_t *common) {
    for (size_t i = 0; i < n; i++, rows += stride) {
        uint32_t sum = 0;
        for (uint64_t at = 0; at < stride; at += 8)
            sum += tamis__popcount64(tamis__get64(rows + at) & tamis__get64(print + at));
        common[i] = sum;
    }
}

/* Bits in which a fold differs from each of n others. */
typedef void tamis_fold_kernel(const uint8_t *folds, size_t n, const uint8_t *fold,
                               uint32_t *apart);
tamis_fold_kernel tamis__fingerprint_apart_avx2;

TAMIS_HOT void tamis__fingerprint_apart(const uint8_t *folds, size_t n, const uint8_t *fold,
                                        uint32_t *apart) {
    for (size_t i = 0; i < n; i++, folds += TAMIS_FOLD_BYTES) {
        uint32_t sum = 0;
        for (unsigned at = 0; at < TAMIS_FOLD_BYTES; at += 8)
            sum += tamis__popcount64(tamis__get64(folds + at) ^ tamis__get64(fold + at));
        apart[i] = sum;
    }
}

#endif
