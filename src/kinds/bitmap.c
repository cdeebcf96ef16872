/* Operations on payloads that are flat arrays of bits. */
#include "kinds/bitmap.h"

#include <math.h>

#include "bits/bits.h"

uint64_t tamis__round_up(uint64_t units, uint64_t least, uint64_t most) {
    const unsigned share_bits = 12;
    if (units >= most) return 0;
    if (units == 0) units = 1;
    const unsigned top = tamis__log2_floor(units);
    uint64_t grain = top > share_bits ? (uint64_t)1 << (top - share_bits) : 1;
    if (grain < least) grain = least;
    units = (units + grain - 1) / grain * grain;
    return units < most ? units : 0;
}

tamis_status tamis__bitmap_audit(const tamis_body *f, uint64_t bits) {
    if (bits % 64 && tamis__get64(f->bytes + f->size - 8) >> (bits % 64))
        return tamis__fail(TAMIS_CORRUPT, "bits are set beyond the last of %llu bits",
                           (unsigned long long)bits);
    return TAMIS_OK;
}

tamis_status tamis__bitmap_merge(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->size; i += 8)
        tamis__put64(into->bytes + i,
                     tamis__get64(into->bytes + i) | tamis__get64(from->bytes + i));
    return TAMIS_OK;
}

tamis_status tamis__bitmap_intersect(tamis_body *into, const tamis_body *from) {
    for (uint64_t i = 0; i < into->size; i += 8)
        tamis__put64(into->bytes + i,
                     tamis__get64(into->bytes + i) & tamis__get64(from->bytes + i));
    return TAMIS_OK;
}

tamis_status tamis__fold_units(uint64_t units, uint64_t by, const char *unit, uint64_t *folded) {
    if (by == 0 || units % by)
        return tamis__fail(TAMIS_INVALID, "cannot fold by %llu: it does not divide the %llu %s",
                           (unsigned long long)by, (unsigned long long)units, unit);
    *folded = units / by;
    return TAMIS_OK;
}

/* Both folds walk the set bits in order and keep the edge of the present group (or stride), so
 * there is no division per bit. */
void tamis__bitmap_fold_neighbours(uint8_t *to, const uint8_t *from, uint64_t bits, uint64_t by) {
    uint64_t group = 0, edge = by;
    for (uint64_t base = 0; base < bits; base += 64)
        for (uint64_t w = tamis__get64(from + base / 8); w; w &= w - 1) {
            const uint64_t i = base + (unsigned)__builtin_ctzll(w);
            if (i >= edge + 64 * by) { /* far ahead, over zero words: one division */
                group = i / by;
                edge = (group + 1) * by;
            }
            for (; i >= edge; edge += by) group++;
            tamis__bit_set(to, group);
        }
}

void tamis__bitmap_fold_strides(uint8_t *to, const uint8_t *from, uint64_t bits, uint64_t by) {
    const uint64_t stride = bits / by;
    uint64_t start = 0;
    for (uint64_t base = 0; base < bits; base += 64)
        for (uint64_t w = tamis__get64(from + base / 8); w; w &= w - 1) {
            const uint64_t i = base + (unsigned)__builtin_ctzll(w);
            while (i - start >= stride) start += stride;
            tamis__bit_set(to, i - start);
        }
}

void tamis__blocks_fold(tamis_body *to, const tamis_body *from, uint64_t block_bytes) {
    const uint64_t by = from->size / to->size;
    for (uint64_t at = 0; at < from->size; at += block_bytes) {
        uint8_t *block = to->bytes + at / block_bytes / by * block_bytes;
        for (uint64_t i = 0; i < block_bytes; i += 8)
            tamis__or64(block + i, tamis__get64(from->bytes + at + i));
    }
}

uint64_t tamis__bits_set(const tamis_body *f, const tamis_body *other) {
    uint64_t set = 0;
    if (other)
        for (uint64_t i = 0; i < f->size; i += 8)
            set += tamis__popcount64(tamis__load64(f->bytes + i) | tamis__load64(other->bytes + i));
    else
        for (uint64_t i = 0; i < f->size; i += 8)
            set += tamis__popcount64(tamis__load64(f->bytes + i));
    return set;
}

/* Swamidass and Baldi (2007): n = -(m/k) ln(1 - X/m); its error by the variance of the zeros. */
void tamis__bitmap_measure(const tamis_body *f, const tamis_body *other, uint64_t bits,
                           uint64_t hashes, tamis_measure *out) {
    const double m = (double)bits, k = (double)hashes;
    out->bits = bits;
    out->bits_set = tamis__bits_set(f, other);
    const double fill = (double)out->bits_set / m;
    out->fpr = pow(fill, k);
    if (out->bits_set == bits) {
        out->items = (struct tamis_estimate){INFINITY, INFINITY};
        return;
    }
    const double t = -log1p(-fill); /* kn/m */
    out->items = (struct tamis_estimate){m / k * t, sqrt(m * (expm1(t) - t)) / k};
}

tamis_status tamis__lanes_refuse(const char *kind, double fpr) {
    return tamis__fail(
        TAMIS_TOO_LARGE,
        "%s is not made for fpr=%.2g: it would need over %d bits per key or 2^56 bytes", kind, fpr,
        TAMIS_LANES_MOST_BITS_PER_KEY);
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
                           tamis_measure *out) {
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
