/* SPDX-License-Identifier: MIT */
/* What a filter is, how full it is, and how much two have in common. */
#include <math.h>
#include <string.h>

#include "core/filter.h"

/* Above this a yes means next to nothing. A high rate that was asked for is not a fault: saturation
 * begins halfway from there to 1. */
static double saturated_above(double asked) {
    return (1 + asked) / 2;
}

/* No kind that can be intersected, or merged with another size, has a caveat of its own. */
static const char stray[sizeof((tamis_measurement *)0)->caveat] =
    "an intersection, or a union of two sizes: some bits belong to no key, so it has fewer keys "
    "than they suggest";

/* Takes milliseconds for some kinds. */
static double expected_rate(const tamis *f) {
    const tamis_image *image = &f->image;
    const bool has_grown =
        TAMIS_ENTRY(f->kind, reshape, grow) && image->body.items > image->capacity;
    const uint64_t keys = has_grown ? image->body.items : image->capacity;
    return tamis__planned_rate(f->kind, image->body.word, keys);
}

static uint64_t adds_to_tick(const tamis *f) {
    return TAMIS_ENTRY(f->kind, ageing, adds_to_tick)
               ? f->kind->ageing->adds_to_tick(&f->image.body)
               : UINT64_MAX;
}

static bool knows_similarity(const tamis *f) {
    return TAMIS_ENTRY(f->kind, sets, similarity);
}

/* What is known at once, without the payload. */
static struct tamis_info facts_of(const tamis *f) {
    const tamis_image *image = &f->image;
    const tamis_kind *kind = f->kind;
    struct tamis_info full = {
        .kind = kind->name,
        .contract = kind->contract,
        .kind_id = image->entry->id,
        .is_view = f->is_view,
        .capacity = image->capacity,
        .items = image->body.items,
        .payload_bytes = image->body.size,
        .stored_bytes = tamis_image_size(f),
        .probes = kind->probes(image->body.word),
        .fpr_asked = tamis__fpr_of(image->one_in),
        .hash = tamis__hash_name(image->hasher.mode),
        .key_place = tamis__key_place_name(image->hasher.key_place),
        .seed = image->hasher.seed,
        .key_id = tamis__key_id(&image->hasher),
        .has_stray_bits = image->has_stray_bits,
        .abilities = f->can,
        .reliable_count = tamis__reliable_count(kind, image->body.word),
        .adds_to_tick = adds_to_tick(f),
    };
    if (TAMIS_ENTRY(kind, counts, count_error))
        full.count_error =
            kind->counts->count_error(image->body.word, image->body.items, &full.count_error_prob);
    memcpy(full.word, image->body.word, sizeof full.word);
    memcpy(full.word_name, kind->word, sizeof full.word_name);
    return full;
}

void tamis_get_info(const tamis *f, struct tamis_info *info) {
    const struct tamis_info full = facts_of(f);
    tamis__fill_struct(info, &full, sizeof full, "info");
}

void tamis_measure(const tamis *f, struct tamis_info *info) {
    struct tamis_info full = facts_of(f);
    const double asked = full.fpr_asked;
    const bool is_sketch = f->can & TAMIS_IS_SKETCH;
    const bool is_unasked =
        TAMIS_ENTRY(f->kind, sizing, is_sized) && asked <= 0 && full.capacity == 0;
    const bool has_rate = !is_sketch && !is_unasked;
    tamis_measurement m = {0};
    f->kind->measure(&f->image.body, NULL, &m);
    full.fpr_expected = expected_rate(f);
    full.is_saturated = has_rate && m.fpr > saturated_above(asked);
    full.is_degraded = has_rate && asked > 0 && m.fpr > 2 * asked;
    full.fpr_now = m.fpr;
    full.fill = (double)m.bits_set / (double)m.bits;
    full.items_now = m.items;
    full.affected = m.affected;
    memcpy(full.caveat, full.has_stray_bits ? stray : m.caveat, sizeof full.caveat);
    tamis__fill_struct(info, &full, sizeof full, "info");
}

double tamis_fpr_now(const tamis *f) {
    tamis_measurement m = {0};
    f->kind->measure(&f->image.body, NULL, &m);
    return m.fpr;
}

tamis_status tamis_items_now(const tamis *f, struct tamis_estimate *items) {
    tamis_measurement m = {0};
    if (f->image.has_stray_bits)
        return tamis__fail(
            TAMIS_UNSUPPORTED,
            "an intersection, or a union of two sizes, cannot tell how many keys it has: some bits "
            "belong to none of them; ask the overlap of the two before");
    f->kind->measure(&f->image.body, NULL, &m);
    if (isinf(m.items.value))
        return tamis__fail(TAMIS_SATURATED, "every bit is set: no estimate is possible");
    *items = m.items;
    return TAMIS_OK;
}

/* With similarity J, |A| + |B| = (1 + J) |A or B|. The errors of the sizes may be correlated. */
static tamis_status common_by_similarity(const tamis *a, const tamis *b,
                                         struct tamis_estimate *common) {
    struct tamis_estimate x = {0, 0}, y = {0, 0}, j = {0, 0};
    tamis_status rc = a->kind->sets->similarity(&a->image.body, &b->image.body, &j);
    if (!rc) rc = tamis_items_now(a, &x);
    if (!rc) rc = tamis_items_now(b, &y);
    if (rc) return rc;
    const double sum = x.value + y.value, one_more = 1 + j.value;
    common->value = sum * j.value / one_more;
    common->error =
        hypot(sum * j.error / (one_more * one_more), (x.error + y.error) * j.value / one_more);
    return TAMIS_OK;
}

/* |A and B| = |A| + |B| - |A or B|. The three estimates share bits, so the sum of their variances
 * is conservative. */
static tamis_status common_keys(const tamis *a, const tamis *b, struct tamis_estimate *common,
                                struct tamis_estimate *all) {
    if (tamis_mismatch(a, b)) return TAMIS_MISMATCH;
    if (!(a->can & TAMIS_CAN_MERGE)) return tamis__cannot(a, "be compared");
    tamis_measurement both = {0};
    struct tamis_estimate x = {0, 0}, y = {0, 0};
    tamis_status rc = TAMIS_OK;
    if (TAMIS_ENTRY(a->kind, sets, may_compare))
        rc = a->kind->sets->may_compare(&a->image.body, &b->image.body);
    if (!rc) rc = tamis_items_now(a, &x);
    if (!rc) rc = tamis_items_now(b, &y);
    if (rc) return rc;
    a->kind->measure(&a->image.body, &b->image.body, &both);
    if (isinf(both.items.value))
        return tamis__fail(TAMIS_SATURATED, "together the two filters have every bit set");
    *all = both.items;
    common->value = fmax(0, x.value + y.value - all->value);
    common->error = sqrt(x.error * x.error + y.error * y.error + all->error * all->error);
    return TAMIS_OK;
}

tamis_status tamis_overlap(const tamis *a, const tamis *b, struct tamis_estimate *common) {
    struct tamis_estimate found = {0, 0}, all = {0, 0};
    if (knows_similarity(a) && tamis_mismatch(a, b)) return TAMIS_MISMATCH;
    const tamis_status rc =
        knows_similarity(a) ? common_by_similarity(a, b, &found) : common_keys(a, b, &found, &all);
    if (!rc) *common = found;
    return rc;
}

tamis_status tamis_similarity(const tamis *a, const tamis *b, struct tamis_estimate *jaccard) {
    struct tamis_estimate found = {0, 0}, all = {0, 0};
    if (knows_similarity(a) && tamis_mismatch(a, b)) return TAMIS_MISMATCH;
    if (knows_similarity(a))
        return a->kind->sets->similarity(&a->image.body, &b->image.body, jaccard);
    const tamis_status rc = common_keys(a, b, &found, &all);
    if (rc) return rc;
    if (all.value == 0) /* two empty sets are the same set */
        *jaccard = (struct tamis_estimate){1, 0};
    else
        *jaccard =
            (struct tamis_estimate){fmin(1, found.value / all.value), found.error / all.value};
    return TAMIS_OK;
}
