/* fingerprint: the plain kernel, compiled where counting the bits of a word is one instruction. */
#include "kinds/fingerprint.h"

#ifdef __AVX2__
void tamis__print_common_avx2(const uint8_t *rows, size_t n, uint64_t stride, const uint8_t *print,
                              uint32_t *common) {
    tamis__print_common(rows, n, stride, print, common);
}
#endif
