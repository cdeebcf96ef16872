/* SPDX-License-Identifier: MIT */
/* fingerprint: the portable kernels, compiled for processors that count bits in one instruction. */
#include "kinds/fingerprint.h"

#ifdef __AVX2__
void tamis__fingerprint_common_avx2(const uint8_t *rows, size_t n, uint64_t stride,
                                    const uint8_t *print, uint32_t *common) {
    tamis__fingerprint_common(rows, n, stride, print, common);
}

void tamis__fingerprint_apart_avx2(const uint8_t *folds, size_t n, const uint8_t *fold,
                                   uint32_t *apart) {
    tamis__fingerprint_apart(folds, n, fold, apart);
}
#endif
