#include "tests/help/seal.h"

#include "bits/bits.h"
#include "hash/hash.h"

void test_reseal(uint8_t *image, size_t size) {
    tamis__put64(image + 176,
                 tamis__checksum(image + TEST_HEADER_BYTES, size - TEST_HEADER_BYTES, NULL, 0));
    tamis__put64(image + 184, tamis__checksum(image, 184, NULL, 0));
}
