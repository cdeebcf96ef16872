/* SPDX-License-Identifier: MIT */
/* Querying the bumped ribbon: which layer has a hash, and what its rows add up to. */
#include <math.h>

#include "kinds/band_kernels.h"

uint64_t tamis__band_keys(const uint8_t *band) {
    return tamis__get32(band);
}

/* ---- Columns -------------------------------------------------------------------------------- */

double tamis__band_word_rate(const uint64_t word[]) {
    return ldexp(1 + (double)word[TAMIS_BAND_NARROW] / 65536, -(int)word[TAMIS_BAND_WIDTH]);
}

void tamis__band_set_columns(uint64_t word[], uint64_t total) {
    word[TAMIS_BAND_WIDTH] = (total + 65535) / 65536;
    word[TAMIS_BAND_NARROW] = word[TAMIS_BAND_WIDTH] * 65536 - total;
}

/* A rate is f 2^e with f from 1/2 on: 2f is what 2^-width must be multiplied by. */
uint64_t tamis__band_columns_for(double rate) {
    int e;
    const double f = frexp(rate, &e);
    if (e < 1 - TAMIS_BAND_MAX_GUARD) return 0;
    return ((uint64_t)(1 - e) << 16) - (uint64_t)((2 * f - 1) * 65536);
}

/* ---- The gate ------------------------------------------------------------------------------- */

/* Before anything is derived from a layer. */
static bool is_legal_layer(const uint8_t *band, unsigned i) {
    const uint8_t *p = band + HEAD_BYTES + i * LAYER_BYTES;
    const uint64_t blocks = tamis__get32(p), bumping = tamis__get64(p + 8);
    const uint64_t shift = bumping & 0xffff, first = bumping >> 16 & 0xffff;
    const uint64_t second = bumping >> 32 & 0xffff, all = bumping >> 48;
    if (blocks == 0 || blocks > MAX_BLOCKS || shift > MAX_SHIFT) return false;
    if (shift == 0) return bumping == 0;
    return 0 < first && first < second && second < all && all == (uint64_t)1 << shift;
}

/* Thresholds end with the last bucket; after the last layer there is nowhere to bump to. */
static bool are_legal_thresholds(const layer *l, const uint8_t *meta, bool is_last) {
    if (l->meta_words == 0) return is_last;
    for (uint64_t i = 0; is_last && i < l->meta_words; i++)
        if (tamis__get64(meta + i * 8)) return false;
    const unsigned used = (unsigned)(bucket_of(l, l->starts - 1) % 32 + 1) * 2;
    return used == 64 || tamis__get64(meta + (l->meta_words - 1) * 8) >> used == 0;
}

/* The layer whose thresholds and rows start at *at; advances it to the next. */
static bool audit_layer(const tamis_band_form *form, const uint8_t *band, uint64_t size, unsigned i,
                        uint64_t *at) {
    if (!is_legal_layer(band, i)) return false;
    const layer l = get_layer(form, band, i);
    if (l.words > (size - *at) / 8) return false;
    if (!are_legal_thresholds(&l, band + *at, i + 1 == layers_of(band))) return false;
    *at += l.words * 8;
    return true;
}

tamis_status tamis__band_audit(tamis_band_form form, const uint8_t *band, uint64_t size) {
    const uint64_t keys = size >= HEAD_BYTES ? tamis__band_keys(band) : 0;
    const unsigned layers = size >= HEAD_BYTES ? layers_of(band) : MAX_LAYERS + 1;
    uint64_t at = HEAD_BYTES + layers * (uint64_t)LAYER_BYTES;
    if (layers > MAX_LAYERS || at > size || (layers == 0) != (keys == 0) || keys > MAX_KEYS)
        return tamis__fail(TAMIS_CORRUPT, "damaged: %llu keys in %u layers",
                           (unsigned long long)keys, layers);
    for (unsigned i = 0; i < layers; i++)
        if (!audit_layer(&form, band, size, i, &at))
            return tamis__fail(TAMIS_CORRUPT, "damaged: layer %u of a ribbon", i);
    return at == size ? TAMIS_OK
                      : tamis__fail(TAMIS_CORRUPT, "damaged: a ribbon ends at %llu, not at %llu",
                                    (unsigned long long)at, (unsigned long long)size);
}

/* ---- Querying ------------------------------------------------------------------------------- */

void tamis__band_aim(const tamis_band_form *form, const uint8_t *band, uint64_t hash,
                     tamis_band_aim *aim) {
    aim_in_band(form, band, hash, aim);
    if (aim->here) fetch(form, aim->here, aim->next);
}

TAMIS_HOT uint64_t column(const tamis_band_aim *aim, unsigned k) {
    const uint64_t picked = (tamis__get64(aim->here + k * 8) & aim->low) ^
                            (tamis__get64(aim->next + k * 8) & aim->high);
    return (uint64_t)__builtin_parityll(picked);
}

/* Four at a time without branches: the first four refuse fifteen of sixteen non-members. */
TAMIS_HOT uint64_t four_columns(const tamis_band_aim *aim, unsigned k, unsigned count) {
    uint64_t sums = 0;
    for (unsigned i = 0; i < count; i++) sums |= column(aim, k + i) << i;
    return sums;
}

bool tamis__band_test(const tamis_band_form *form, const tamis_band_aim *aim, uint64_t *value) {
    return test_columns(four_columns, form, aim, value);
}

bool tamis__band_ask(const tamis_band_form *form, const uint8_t *band, uint64_t hash,
                     uint64_t *value) {
    tamis_band_aim aim;
#if TAMIS_HAS_X86
    if (tamis__cpu() & TAMIS_CPU_AVX2) return tamis__band_ask_avx2(form, band, hash, value);
#endif
    aim_in_band(form, band, hash, &aim);
    return tamis__band_test(form, &aim, value);
}

/* The portable version, which is the reference. */
static void ask_plain(const tamis_band_form *form, const tamis_band_set *set, const uint64_t *hash,
                      size_t n, uint64_t *value, uint8_t *hit) {
    ask_groups(four_columns, form, set, hash, n, value, hit);
}

void tamis__band_ask_all(const tamis_band_form *form, const tamis_band_set *set,
                         const uint64_t *hash, size_t n, uint64_t *value, uint8_t *hit) {
    const tamis_band_ops *ops = tamis__band_ops();
    if (ops && set->count >> 32 == 0)
        ops->ask(form, set, hash, n, value, hit);
    else
        ask_plain(form, set, hash, n, value, hit);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

/* Of the starts of a layer: how many it keeps, and how many of those have one guard bit less. */
static void count_kept(const tamis_band_form *form, const layer *l, const uint8_t *meta,
                       double *kept, double *narrow) {
    const double edge = (double)l->starts * form->narrow / 65536;
    *kept = *narrow = 0;
    for (uint64_t from = 0, to; from < l->starts; from = to) {
        const uint64_t bucket = bucket_of(l, from);
        const unsigned class = l->shift ? class_of(meta, bucket) : 0;
        to = l->shift ? min_of(from + cut_of(l, 3), l->starts) : l->starts;
        const uint64_t first = min_of(from + cut_of(l, class), to);
        *kept += (double)(to - first);
        if (edge > (double)first)
            *narrow += (edge < (double)to ? edge : (double)to) - (double)first;
    }
}

double tamis__band_rate(tamis_band_form form, const uint8_t *band) {
    const unsigned layers = layers_of(band);
    const uint8_t *at = band + HEAD_BYTES + layers * LAYER_BYTES;
    const double wide_rate = 1 / (double)((uint64_t)1 << form.guard_bits);
    double rate = 0, reach = 1;
    for (unsigned i = 0; i < layers; i++) {
        const layer l = get_layer(&form, band, i);
        double kept, narrow;
        count_kept(&form, &l, at, &kept, &narrow);
        rate += reach * (kept + narrow) / (double)l.starts * wide_rate;
        reach *= 1 - kept / (double)l.starts;
        at += l.words * 8;
    }
    return rate;
}
