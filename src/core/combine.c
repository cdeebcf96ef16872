/* Whole filters against each other: merge, intersect; and smaller ones: fold, shrink. */
#include <string.h>

#include "core/builder.h"
#include "core/filter.h"
#include "kinds/rows.h"

/* Refuses what does not match; words of the shape that are marked in `free_words` may differ. */
static const char *mismatch(const tamis *a, const tamis *b, unsigned free_words) {
    const tamis_hasher *x = &a->image.hasher, *y = &b->image.hasher;
    if (a->kind != b->kind) {
        tamis__fail(TAMIS_MISMATCH, "kinds differ: %s and %s", a->kind->name, b->kind->name);
        return tamis_why();
    }
    for (int i = 0; i < TAMIS_WORDS; i++) {
        const uint64_t v = a->image.body.word[i], w = b->image.body.word[i];
        if (v == w || free_words >> i & 1) continue;
        tamis__fail(TAMIS_MISMATCH, "%s differ: %llu and %llu", a->kind->word[i],
                    (unsigned long long)v, (unsigned long long)w);
        return tamis_why();
    }
    if (x->mode != y->mode) {
        tamis__fail(TAMIS_MISMATCH, "hashes differ: %s and %s", tamis__hash_name(x->mode),
                    tamis__hash_name(y->mode));
        return tamis_why();
    }
    if (x->seed != y->seed) {
        tamis__fail(TAMIS_MISMATCH, "seeds differ: %llu and %llu", (unsigned long long)x->seed,
                    (unsigned long long)y->seed);
        return tamis_why();
    }
    if (memcmp(x->secret, y->secret, sizeof x->secret) != 0) {
        tamis__fail(TAMIS_MISMATCH, "secrets differ: key ids %016llx and %016llx",
                    (unsigned long long)tamis__key_id(x), (unsigned long long)tamis__key_id(y));
        return tamis_why();
    }
    return NULL;
}

const char *tamis_mismatch(const tamis *a, const tamis *b) {
    return mismatch(a, b, tamis__words_made(a->kind));
}

/* What was built is merged by building again: how either payload is cut does not matter. */
static tamis_status may_merge_built(const tamis *into, const tamis *from) {
    const tamis_status rc = tamis__may(into, TAMIS_CAN_MERGE, "be merged");
    const unsigned free_words = tamis__words_made(into->kind) | into->kind->build->cut;
    return rc ? rc : mismatch(into, from, free_words) ? TAMIS_MISMATCH : TAMIS_OK;
}

static tamis_status may_combine(const tamis *into, const tamis *from, enum tamis_ability ability,
                                const char *verb) {
    const tamis_status rc = tamis__may(into, ability, verb);
    if (rc) return rc;
    return tamis_mismatch(into, from) ? TAMIS_MISMATCH : TAMIS_OK;
}

/* Items of the result are bounds: no more keys than both had together, than the smaller had. */
tamis_status tamis_merge(tamis *into, const tamis *from) {
    const bool is_built = into->kind->build;
    tamis_status rc = is_built ? may_merge_built(into, from)
                               : may_combine(into, from, TAMIS_CAN_MERGE, "be merged");
    if (rc) return rc;
    if (is_built) return tamis__merge_built(into, from);
    const uint64_t more = from->image.body.items; /* before, for a merge with itself */
    rc = into->kind->merge(&into->image.body, &from->image.body);
    if (rc) return rc;
    tamis__add_items(into, more);
    into->image.is_intersection |= from->image.is_intersection;
    return TAMIS_OK;
}

static uint64_t bits_set(const tamis *f) {
    tamis_measure m = {0};
    f->kind->measure(&f->image.body, NULL, &m);
    return m.bits_set;
}

/* What is in both keeps its bits, and so does what some key of either set by chance: from then on the
 * bits tell too many keys. Unless none was lost: then all of `into` is in `from`. */
tamis_status tamis_intersect(tamis *into, const tamis *from) {
    tamis_status rc = may_combine(into, from, TAMIS_CAN_INTERSECT, "be intersected");
    if (rc) return rc;
    uint64_t *items = &into->image.body.items;
    const uint64_t before = bits_set(into);
    rc = into->kind->intersect(&into->image.body, &from->image.body);
    if (rc) return rc;
    if (from->image.body.items < *items) *items = from->image.body.items;
    into->image.is_intersection |= bits_set(into) != before;
    return TAMIS_OK;
}

/* ---- Weighed sums --------------------------------------------------------------------------- */

static tamis_status may_weigh(const tamis *into, const tamis *const *from, size_t n) {
    const tamis_status rc = tamis__may(into, TAMIS_CAN_MERGE, "be weighed");
    if (rc) return rc;
    if (!into->kind->weigh)
        return tamis__cannot(into, "be weighed: it has no counters that add up");
    for (size_t i = 0; i < n; i++)
        if (tamis_mismatch(into, from[i])) return TAMIS_MISMATCH;
    return TAMIS_OK;
}

static tamis_status weigh_items(const tamis_body *const *from, const int64_t *weights, size_t n,
                                uint64_t *items) {
    int64_t sum = 0;
    bool fits = true;
    for (size_t i = 0; i < n && fits; i++)
        fits = tamis__add_weighed(&sum, from[i]->items, weights[i]);
    if (!fits || sum < 0)
        return tamis__fail(TAMIS_FULL, "the items of the sum would be below 0 or over 2^63-1");
    *items = (uint64_t)sum;
    return TAMIS_OK;
}

tamis_status tamis_weigh(tamis *into, const tamis *const *from, const int64_t *weights, size_t n) {
    uint64_t items = 0;
    tamis_block block;
    tamis_status rc = may_weigh(into, from, n);
    if (rc) return rc;
    const tamis_body **bodies = tamis__get(&into->allocator, (n + 1) * sizeof *bodies, &block);
    if (!bodies) return TAMIS_NOMEM;
    for (size_t i = 0; i < n; i++) bodies[i] = &from[i]->image.body;
    rc = weigh_items(bodies, weights, n, &items);
    if (!rc) rc = into->kind->weigh(&into->image.body, bodies, weights, n);
    if (!rc) into->image.body.items = items;
    tamis__give_back(&into->allocator, &block);
    return rc;
}

/* ---- Smaller ones --------------------------------------------------------------------------- */

tamis_status tamis_fold(tamis *f, uint64_t by) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_FOLD, "be folded");
    if (rc) return rc;
    uint64_t word[TAMIS_WORDS];
    memcpy(word, f->image.body.word, sizeof word);
    rc = f->kind->fold(&f->image.body, by, word);
    return rc || by == 1 ? rc : tamis__reshape(f, word);
}

tamis_status tamis_shrink(tamis *f, unsigned keep) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_SHRINK, "be shrunk");
    if (rc) return rc;
    uint64_t word[TAMIS_WORDS];
    memcpy(word, f->image.body.word, sizeof word);
    rc = f->kind->shrink(&f->image.body, keep, word);
    return rc ? rc : tamis__reshape(f, word);
}
