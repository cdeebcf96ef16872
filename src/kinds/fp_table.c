/* SPDX-License-Identifier: MIT */
/* Tables of fingerprints: buckets, sorted buckets, and sizes for a spec. */
#include "kinds/fp_table.h"

#include <math.h>

#include "kinds/bitmap.h"

enum { NIBBLE = 4, RANK_BITS = 12, RANKS = 3876 };

uint64_t tamis__table_size(tamis_table t) {
    return tamis__fields_size(t.buckets, t.bucket_bits);
}

uint64_t tamis__join(uint64_t place, uint64_t places, unsigned width, uint64_t value) {
    const uint64_t values = tamis__field_mask(width);
    return tamis__unscale(places * values, place * values + (value - 1), 0);
}

/* ---- Sorted buckets ------------------------------------------------------------------------- */

/* The combinatorial number system: a <= b <= c <= d has the rank C(a,1) + C(b+1,2) + C(c+2,3) +
 * C(d+3,4), and no two have the same. Four zeros have rank 0, so an empty bucket is all zero. */
static const uint16_t choose[TAMIS_SORTED_SLOTS][19] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
    {0, 0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120, 136, 153},
    {0, 0, 0, 1, 4, 10, 20, 35, 56, 84, 120, 165, 220, 286, 364, 455, 560, 680, 816},
    {0, 0, 0, 0, 1, 5, 15, 35, 70, 126, 210, 330, 495, 715, 1001, 1365, 1820, 2380, 3060},
};

static uint64_t rank_of(const uint64_t nibble[]) {
    uint64_t rank = 0;
    for (unsigned i = 0; i < TAMIS_SORTED_SLOTS; i++) rank += choose[i][nibble[i] + i];
    return rank;
}

/* From the largest nibble down, each is the largest whose share the rank still holds. */
static void nibbles_of(uint64_t rank, uint64_t nibble[]) {
    unsigned top = 18;
    for (unsigned i = TAMIS_SORTED_SLOTS; i-- > 0;) {
        while (choose[i][top] > rank) top--;
        nibble[i] = top - i;
        rank -= choose[i][top];
        top -= i > 0;
    }
}

static uint64_t bit_of_cell(const tamis_table *t, uint64_t bucket, unsigned i) {
    return bucket * t->bucket_bits + RANK_BITS + (uint64_t)i * (t->width - NIBBLE);
}

static uint64_t upper_part(const tamis_table *t, uint64_t bucket, unsigned i) {
    return tamis__bits_get(t->bytes, bit_of_cell(t, bucket, i), t->width - NIBBLE);
}

static uint64_t rank_at(const tamis_table *t, uint64_t bucket) {
    return tamis__bits_get(t->bytes, bucket * t->bucket_bits, RANK_BITS);
}

void tamis__sorted_read(const tamis_table *t, uint64_t bucket, uint64_t cell[]) {
    nibbles_of(rank_at(t, bucket), cell);
    for (unsigned i = 0; i < TAMIS_SORTED_SLOTS; i++) cell[i] |= upper_part(t, bucket, i) << NIBBLE;
}

/* The upper parts, which are stored as they are, answer most queries alone: decoding a rank costs
 * more than all the rest. */
bool tamis__sorted_has(const tamis_table *t, uint64_t bucket, uint64_t value) {
    unsigned equal = 0;
    for (unsigned i = 0; i < TAMIS_SORTED_SLOTS; i++)
        equal |= (unsigned)(upper_part(t, bucket, i) == value >> NIBBLE) << i;
    if (!equal) return false;
    uint64_t nibble[TAMIS_SORTED_SLOTS];
    nibbles_of(rank_at(t, bucket), nibble);
    for (unsigned i = 0; i < TAMIS_SORTED_SLOTS; i++)
        if (equal >> i & 1 && nibble[i] == value % 16) return true;
    return false;
}

/* The order of a sorted bucket: by nibble, and by the rest where nibbles are equal, so that four
 * values have one form. */
static bool is_before(uint64_t a, uint64_t b) {
    return a % 16 != b % 16 ? a % 16 < b % 16 : a < b;
}

static void sort_cells(uint64_t cell[]) {
    for (unsigned i = 1; i < TAMIS_SORTED_SLOTS; i++)
        for (unsigned j = i; j > 0 && is_before(cell[j], cell[j - 1]); j--) {
            const uint64_t other = cell[j];
            cell[j] = cell[j - 1];
            cell[j - 1] = other;
        }
}

static void sorted_write(const tamis_table *t, uint64_t bucket, uint64_t cell[]) {
    uint64_t nibble[TAMIS_SORTED_SLOTS];
    sort_cells(cell);
    for (unsigned i = 0; i < TAMIS_SORTED_SLOTS; i++) {
        nibble[i] = cell[i] % 16;
        tamis__bits_put(t->bytes, bit_of_cell(t, bucket, i), t->width - NIBBLE, cell[i] >> NIBBLE);
    }
    tamis__bits_put(t->bytes, bucket * t->bucket_bits, RANK_BITS, rank_of(nibble));
}

static bool is_sorted_bucket(const tamis_table *t, uint64_t bucket) {
    uint64_t cell[TAMIS_SORTED_SLOTS];
    if (rank_at(t, bucket) >= RANKS) return false;
    tamis__sorted_read(t, bucket, cell);
    for (unsigned i = 1; i < TAMIS_SORTED_SLOTS; i++)
        if (is_before(cell[i], cell[i - 1])) return false;
    return true;
}

/* ---- Buckets -------------------------------------------------------------------------------- */

bool tamis__cells_replace(const tamis_table *t, uint64_t bucket, uint64_t old, uint64_t value) {
    uint64_t cell[TAMIS_TABLE_MAX_SLOTS];
    unsigned i = 0;
    tamis__bucket_read(t, bucket, cell);
    while (i < t->slots && cell[i] != old) i++;
    if (i == t->slots) return false;
    if (t->is_sorted) {
        cell[i] = value;
        sorted_write(t, bucket, cell);
    } else {
        tamis__field_put(t->bytes, bucket * t->slots + i, t->width, value);
    }
    return true;
}

unsigned tamis__bucket_load(const tamis_table *t, uint64_t bucket) {
    uint64_t cell[TAMIS_TABLE_MAX_SLOTS];
    unsigned load = 0;
    tamis__bucket_read(t, bucket, cell);
    for (unsigned i = 0; i < t->slots; i++) load += cell[i] != 0;
    return load;
}

uint64_t tamis__table_used(const tamis_table *t) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < t->buckets; i++) used += tamis__bucket_load(t, i);
    return used;
}

tamis_status tamis__table_audit(const tamis_table *t) {
    if (!tamis__fields_end_clean(t->bytes, t->buckets, t->bucket_bits))
        return tamis__fail(TAMIS_CORRUPT, "bits are set after the last of %llu buckets",
                           (unsigned long long)t->buckets);
    for (uint64_t i = 0; t->is_sorted && i < t->buckets; i++)
        if (!is_sorted_bucket(t, i))
            return tamis__fail(TAMIS_CORRUPT, "bucket %llu is not sorted", (unsigned long long)i);
    return TAMIS_OK;
}

/* ---- Plans ---------------------------------------------------------------------------------- */

double tamis__table_rate(uint64_t keys, double share, uint64_t places, unsigned width) {
    const double classes = (double)places * (double)tamis__field_mask(width);
    return -expm1((double)keys * log1p(-share / classes));
}

static uint64_t place_bits(tamis_table_design d, unsigned width) {
    return (uint64_t)((int)(d.cells * width) + d.extra);
}

bool tamis__table_fits(tamis_table_design d, uint64_t places, uint64_t width) {
    return width >= d.min_width && width <= TAMIS_TABLE_MAX_WIDTH && places >= d.min_places &&
           places <= TAMIS_TABLE_MAX_CLASSES >> width &&
           places <= (TAMIS_MAX_PAYLOAD_BYTES * 8 - d.head_bits) / place_bits(d, (unsigned)width);
}

static bool plan_for_rate(const tamis_params *params, tamis_table_design d, uint64_t *places,
                          uint64_t *width) {
    const double keys = params->capacity ? (double)params->capacity : 1, rounding = 1e-9;
    const double classes = d.share / -expm1(log1p(-params->fpr) / keys) * (1 + rounding);
    double min = INFINITY;
    for (unsigned w = d.min_width; w <= TAMIS_TABLE_MAX_WIDTH; w++) {
        const double wanted = ceil(classes / (double)tamis__field_mask(w));
        uint64_t p = d.min_places;
        if (wanted > (double)p)
            p = wanted < (double)TAMIS_TABLE_MAX_CLASSES
                    ? tamis__round_up((uint64_t)wanted, 1, TAMIS_TABLE_MAX_CLASSES)
                    : 0;
        const double bits = (double)p * (double)place_bits(d, w);
        if (!tamis__table_fits(d, p, w) || bits >= min) continue;
        min = bits;
        *places = p;
        *width = w;
    }
    return !isinf(min);
}

uint64_t tamis__table_places(const tamis_params *params, tamis_table_design d, unsigned width) {
    const uint64_t whole = params->bits / 64 * 64, max = TAMIS_TABLE_MAX_CLASSES >> width;
    const uint64_t bits = whole > d.head_bits ? whole - d.head_bits : 0;
    const uint64_t places = bits / place_bits(d, width);
    return places < max ? places : max;
}

static bool plan_for_size(const tamis_params *params, tamis_table_design d, uint64_t *places,
                          uint64_t *width) {
    for (unsigned w = TAMIS_TABLE_MAX_WIDTH; w >= d.min_width; w--) {
        *places = tamis__table_places(params, d, w);
        *width = w;
        if (tamis__table_fits(d, *places, w)) return true;
    }
    return false;
}

tamis_status tamis__table_refuse(const tamis_params *params, tamis_table_design d) {
    const unsigned long long keys = params->capacity;
    if (!tamis__table_fits(d, d.min_places, d.min_width))
        return tamis__fail(TAMIS_TOO_LARGE, "%s cannot have %llu keys", d.kind, keys);
    if (params->bits) {
        const uint64_t bits = d.min_places * place_bits(d, d.min_width) + d.head_bits;
        return tamis__fail(TAMIS_INVALID, "%s of %llu keys needs at least size=%llu", d.kind, keys,
                           (unsigned long long)((bits + 63) / 64 * 8));
    }
    return tamis__fail(TAMIS_INVALID,
                       "fpr=%.3g is too low; the minimum for %s of %llu keys is %.2g", params->fpr,
                       d.kind, keys, d.share * (double)keys / (double)TAMIS_TABLE_MAX_CLASSES);
}

tamis_status tamis__table_plan(const tamis_params *params, tamis_table_design d, uint64_t *places,
                               uint64_t *width) {
    const bool is_planned = params->bits ? plan_for_size(params, d, places, width)
                                         : plan_for_rate(params, d, places, width);
    return is_planned ? TAMIS_OK : tamis__table_refuse(params, d);
}

/* ---- Measures ------------------------------------------------------------------------------- */

/* Keys that fell into an occupied class do not show; their number follows from the number of
 * occupied classes, as it does for the bits of a Bloom filter with one probe. */
struct tamis_estimate tamis__table_items(uint64_t distinct, double classes) {
    const double taken = (double)distinct / classes;
    if (taken >= 1) return (struct tamis_estimate){INFINITY, INFINITY};
    const double t = -log1p(-taken);
    return (struct tamis_estimate){classes * t, sqrt(classes * fmax(0, expm1(t) - t))};
}
