/* SPDX-License-Identifier: MIT */
/* Operations on payloads that are flat bit arrays. */
#include "kinds/bitmap.h"

#include <math.h>

#include "bits/bits.h"

static uint64_t round_by(unsigned share_bits, uint64_t units, uint64_t min, uint64_t max) {
    if (units >= max) return 0;
    if (units == 0) units = 1;
    const unsigned top = tamis__log2_floor(units);
    uint64_t grain = top > share_bits ? (uint64_t)1 << (top - share_bits) : 1;
    if (grain < min) grain = min;
    units = (units + grain - 1) / grain * grain;
    return units < max ? units : 0;
}

uint64_t tamis__round_up(uint64_t units, uint64_t min, uint64_t max) {
    return round_by(12, units, min, max);
}

uint64_t tamis__round_to_fold(uint64_t units, uint64_t min, uint64_t max) {
    return round_by(7, units, min, max);
}

uint64_t tamis__units_within(uint64_t bits, uint64_t unit_bits) {
    const uint64_t units = bits / unit_bits, group = 64;
    return bits % unit_bits == 0 || units < group ? units : units / group * group;
}

/* Long division, one bit of the quotient at a time: not every machine has numbers of 128 bits, and
 * only listing uses it, where 64 steps do not matter. */
uint64_t tamis__unscale(uint64_t n, uint64_t x, uint64_t rest) {
    uint64_t hash = 0;
    for (int bit = 0; bit < 64; bit++, rest <<= 1) {
        x = x << 1 | rest >> 63;
        const bool fits = x >= n;
        if (fits) x -= n;
        hash = hash << 1 | fits;
    }
    return hash + (x != 0);
}

tamis_status tamis__bitmap_audit(const tamis_body *f, uint64_t bits) {
    if (bits % 64 && tamis__get64(f->bytes + f->size - 8) >> (bits % 64))
        return tamis__fail(TAMIS_CORRUPT, "bits are set beyond the last of %llu bits",
                           (unsigned long long)bits);
    return TAMIS_OK;
}

tamis_status tamis__bits_audit(const tamis_body *f) {
    return tamis__bitmap_audit(f, f->word[0]);
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

tamis_status tamis__fold_units(uint64_t units, uint64_t by, const char *unit, uint64_t *size) {
    if (by == 0 || units % by)
        return tamis__fail(TAMIS_INVALID, "cannot fold by %llu: it does not divide the %llu %s",
                           (unsigned long long)by, (unsigned long long)units, unit);
    *size /= by;
    return TAMIS_OK;
}

tamis_status tamis__fold_first(const tamis_body *f, uint64_t by, uint64_t word[]) {
    return tamis__fold_units(f->word[0], by, f->kind->word[0], &word[0]);
}

bool tamis__is_wider(const uint64_t word[], const uint64_t wider[]) {
    for (int i = 1; i < TAMIS_WORDS; i++)
        if (wider[i] != word[i]) return false;
    return wider[0] > word[0];
}

/* Both folds walk the set bits in order and keep the edge of the current group (or stride), so
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

void tamis__bitmap_stretch(uint8_t *to, uint64_t to_bits, const uint8_t *from, uint64_t from_bits) {
    tamis_units u = {.m = from_bits, .n = to_bits};
    for (uint64_t i = 0; i < from_bits; i++) {
        tamis__units_next(&u);
        if (!tamis__bit_get(from, i)) continue;
        for (uint64_t j = u.first; j <= u.last; j++) tamis__bit_set(to, j);
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
struct tamis_estimate tamis__bitmap_items(uint64_t set, uint64_t bits, uint64_t hashes) {
    const double m = (double)bits, k = (double)hashes;
    if (set == bits) return (struct tamis_estimate){INFINITY, INFINITY};
    const double t = -log1p(-((double)set / m)); /* kn/m */
    return (struct tamis_estimate){m / k * t, sqrt(m * (expm1(t) - t)) / k};
}

void tamis__fill_measure(uint64_t set, uint64_t bits, uint64_t hashes, tamis_measurement *out) {
    out->bits = bits;
    out->bits_set = set;
    out->fpr = pow((double)set / (double)bits, (double)hashes);
    out->items = tamis__bitmap_items(set, bits, hashes);
}

void tamis__measure_stage(const tamis_measurement *stage, bool asks_first, tamis_measurement *out) {
    const double taken = asks_first ? out->fpr : 0, stored = 1 - taken;
    const double came = stage->items.value / stored, error = stage->items.error / stored;
    out->bits_set += stage->bits_set;
    out->bits += stage->bits;
    out->fpr = tamis__chance_of_either(out->fpr, stage->fpr);
    out->items.value += came;
    out->items.error =
        sqrt(out->items.error * out->items.error + error * error + came * taken / stored);
}

void tamis__bitmap_measure(const tamis_body *f, const tamis_body *other, uint64_t bits,
                           uint64_t hashes, tamis_measurement *out) {
    tamis__fill_measure(tamis__bits_set(f, other), bits, hashes, out);
}
