/* SPDX-License-Identifier: MIT */
/* Planning, folding and measuring filters made of blocks. */
#include "kinds/blockwise.h"

#include "bits/bits.h"
#include "kinds/bitmap.h"

tamis_status tamis__lanes_refuse(const char *kind, double fpr) {
    return tamis__fail(
        TAMIS_TOO_LARGE,
        "%s is not made for fpr=%.2g: it would need over %d bits per key or 2^56 bytes", kind, fpr,
        TAMIS_LANES_MAX_BITS_PER_KEY);
}

tamis_status tamis__blocks_move(tamis_body *to, const tamis_body *from) {
    const uint64_t block_bytes = to->kind->speed->unit;
    tamis_units u = {.m = to->size / block_bytes, .n = from->size / block_bytes};
    for (uint64_t i = 0; i < u.m; i++) {
        uint8_t *block = to->bytes + i * block_bytes;
        tamis__units_next(&u);
        for (uint64_t at = u.first * block_bytes; at < (u.last + 1) * block_bytes; at += 8)
            tamis__or64(block + at % block_bytes, tamis__get64(from->bytes + at));
    }
    return TAMIS_OK;
}

/* Set bits of the lane that starts at bit `at` of the payload; lanes are halves of words, words,
 * or several words. */
static unsigned lane_set(const tamis_body *f, const tamis_body *other, uint64_t at, unsigned bits) {
    unsigned set = 0;
    for (uint64_t end = at + bits; at < end; at += 64) {
        uint64_t w = tamis__load64(f->bytes + at / 64 * 8);
        if (other) w |= tamis__load64(other->bytes + at / 64 * 8);
        if (bits < 64) w = w >> at % 64 & (((uint64_t)1 << bits) - 1);
        set += tamis__popcount64(w);
    }
    return set;
}

void tamis__blocks_measure(const tamis_body *f, const tamis_body *other, tamis_lanes shape,
                           tamis_measurement *out) {
    const uint64_t block_bits = (uint64_t)shape.lanes * shape.lane_bits;
    const uint64_t blocks = f->size * 8 / block_bits;
    double sum = 0;
    out->bits = f->size * 8;
    out->bits_set = 0;
    for (uint64_t at = 0; at < out->bits; at += block_bits) {
        double hit = 1;
        for (unsigned lane = 0; lane < shape.lanes; lane++) {
            const unsigned set =
                lane_set(f, other, at + (uint64_t)lane * shape.lane_bits, shape.lane_bits);
            out->bits_set += set;
            for (unsigned i = 0; i < shape.probes; i++) hit *= (double)set / shape.lane_bits;
        }
        sum += hit;
    }
    out->items = tamis__lanes_items(shape, (double)blocks, (double)out->bits_set);
    out->fpr = tamis__lanes_with_floor(sum / (double)blocks, out->items.value / (double)blocks);
}
