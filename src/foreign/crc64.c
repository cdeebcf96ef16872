/* SPDX-License-Identifier: MIT */
#include "foreign/foreign_hashes.h"

/* What four bits do, shifted out one by one. */
static const uint64_t of_four_bits[16] = {
    0x0000000000000000, 0x7d08ff3b88be6f81, 0xfa11fe77117cdf02, 0x8719014c99c2b083,
    0xdf7adabd7a6e2d6f, 0xa2722586f2d042ee, 0x256b24ca6b12f26d, 0x5863dbf1e3ac9dec,
    0x95ac9329ac4bc9b5, 0xe8a46c1224f5a634, 0x6fbd6d5ebd3716b7, 0x12b5926535897936,
    0x4ad64994d625e4da, 0x37deb6af5e9b8b5b, 0xb0c7b7e3c7593bd8, 0xcdcf48d84fe75459,
};

uint64_t tamis__crc64(uint64_t before, const uint8_t *bytes, uint64_t n) {
    uint64_t crc = before;
    for (uint64_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        crc = of_four_bits[crc & 15] ^ crc >> 4;
        crc = of_four_bits[crc & 15] ^ crc >> 4;
    }
    return crc;
}
