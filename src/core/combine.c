/* SPDX-License-Identifier: MIT */
/* Combines filters (merge, intersect), and makes them smaller (fold, shrink). src/build merges
 * filters that were built. */
#include <stdio.h>
#include <string.h>

#include "core/filter.h"
#include "kinds/rows.h"

const char *tamis__mismatch(const tamis *a, const tamis *b, unsigned free_words) {
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
    return tamis__mismatch(a, b, tamis__words_made(a->kind));
}

static tamis_status may_combine(const tamis *into, const tamis *from, enum tamis_ability ability,
                                const char *verb) {
    const tamis_status rc = tamis__may(into, ability, verb);
    if (rc) return rc;
    return tamis_mismatch(into, from) ? TAMIS_MISMATCH : TAMIS_OK;
}

/* ---- Filters of two sizes ------------------------------------------------------------------- */

static bool has_words(const tamis *f, const uint64_t word[]) {
    return memcmp(f->image.body.word, word, sizeof f->image.body.word) == 0;
}

/* Of two filters that differ only in size, the one whose shape both can have with the least loss:
 * the larger, where positions scale; else the smaller, where the larger folds to exactly that; else
 * NULL. */
static const tamis *common_shape(const tamis *a, const tamis *b) {
    const tamis *small = a->image.body.size < b->image.body.size ? a : b,
                *large = small == a ? b : a;
    const tamis_kind *kind = a->kind;
    const uint64_t by =
        large->image.body.size / (small->image.body.size ? small->image.body.size : 1);
    uint64_t word[TAMIS_WORDS];
    memcpy(word, large->image.body.word, sizeof word);
    if (TAMIS_ENTRY(kind, reshape, stretch) && kind->reshape->stretch(small->image.body.word, word))
        return large;
    const bool can_fold = large->can & TAMIS_CAN_FOLD;
    return can_fold && by > 1 && !kind->reshape->fold(&large->image.body, by, word) &&
                   has_words(small, word)
               ? small
               : NULL;
}

/* A copy of `f` in the shape of `like`. */
static tamis_status in_shape(tamis **copy, const tamis *f, const tamis *like) {
    tamis_status rc = tamis_copy(copy, f);
    if (!rc && !has_words(f, like->image.body.word))
        rc = tamis__reshape(*copy, like->image.body.word);
    return rc;
}

/* Brings both to one shape, then merges. Only payload and plan are exchanged: the handle stays
 * valid, and unchanged until everything has succeeded. */
static tamis_status join(tamis *into, const tamis *from, const tamis *like) {
    tamis *sum = NULL, *other = NULL;
    const uint64_t capacity = like->image.capacity, one_in = like->image.one_in;
    /* Stretching sets every place that a key might have, unless the kind grows. */
    const tamis *other_size = like == into ? from : into;
    const bool is_stretched = !TAMIS_ENTRY(into->kind, reshape, grow) &&
                              other_size->image.body.size < like->image.body.size;
    const bool has_stray_bits =
        from->image.has_stray_bits || (is_stretched && other_size->image.body.items > 0);
    tamis_status rc = tamis__writable(into);
    if (!rc) rc = in_shape(&sum, into, like);
    if (!rc) rc = in_shape(&other, from, like);
    if (!rc) rc = into->kind->sets->merge(&sum->image.body, &other->image.body);
    if (!rc) rc = tamis__stopped(into);
    if (!rc) rc = tamis__install(into, &sum->image.body, &sum->payload);
    if (!rc) {
        into->image.capacity = capacity;
        into->image.one_in = one_in;
        into->image.has_stray_bits |= has_stray_bits;
        tamis__add_items(into, from->image.body.items);
    }
    tamis_free(sum);
    tamis_free(other);
    return rc;
}

static tamis_status refuse_sizes(const tamis *into, const tamis *from) {
    char why[256];
    snprintf(why, sizeof why, "%s", tamis_mismatch(into, from));
    return tamis__fail(TAMIS_MISMATCH, "%s; make both with the same capacity and rate", why);
}

/* The items of a merge or an intersection are upper bounds: the sum, or the smaller count. */
tamis_status tamis__merge_payloads(tamis *into, const tamis *from) {
    tamis_status rc = may_combine(into, from, TAMIS_CAN_MERGE, "be merged");
    if (rc == TAMIS_MISMATCH && !tamis__mismatch(into, from, ~0u)) {
        const tamis *like = common_shape(into, from);
        return like ? join(into, from, like) : refuse_sizes(into, from);
    }
    if (rc) return rc;
    const uint64_t more = from->image.body.items; /* before the merge: `from` may be `into` */
    rc = into->kind->sets->merge(&into->image.body, &from->image.body);
    if (rc) return rc;
    tamis__add_items(into, more);
    into->image.has_stray_bits |= from->image.has_stray_bits;
    return TAMIS_OK;
}

static uint64_t bits_set(const tamis *f) {
    tamis_measurement m = {0};
    f->kind->measure(&f->image.body, NULL, &m);
    return m.bits_set;
}

/* Bits of keys in both remain, and so do bits that both have by chance: the bits then show too many
 * keys. If none was cleared, all of `into` is in `from`. */
tamis_status tamis_intersect(tamis *into, const tamis *from) {
    tamis_status rc = may_combine(into, from, TAMIS_CAN_INTERSECT, "be intersected");
    if (rc) return rc;
    uint64_t *items = &into->image.body.items;
    const uint64_t before = bits_set(into);
    rc = into->kind->sets->intersect(&into->image.body, &from->image.body);
    if (rc) return rc;
    if (from->image.body.items < *items) *items = from->image.body.items;
    into->image.has_stray_bits |= bits_set(into) != before;
    return TAMIS_OK;
}

/* ---- Weighted sums -------------------------------------------------------------------------- */

static tamis_status may_weigh(const tamis *into, const tamis *const *from, size_t n) {
    const tamis_status rc = tamis__may(into, TAMIS_CAN_MERGE, "be weighed");
    if (rc) return rc;
    if (!into->kind->sets->merge_weighted)
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

tamis_status tamis_merge_weighted(tamis *into, const tamis *const *from, const int64_t *weights,
                                  size_t n) {
    uint64_t items = 0;
    tamis_block block;
    tamis_status rc = may_weigh(into, from, n);
    if (rc) return rc;
    const tamis_body **bodies = tamis__get(&into->allocator, (n + 1) * sizeof *bodies, &block);
    if (!bodies) return TAMIS_NOMEM;
    for (size_t i = 0; i < n; i++) bodies[i] = &from[i]->image.body;
    rc = weigh_items(bodies, weights, n, &items);
    if (!rc) rc = into->kind->sets->merge_weighted(&into->image.body, bodies, weights, n);
    if (!rc) into->image.body.items = items;
    tamis__block_free(&into->allocator, &block);
    return rc;
}

/* ---- Smaller filters ------------------------------------------------------------------------ */

tamis_status tamis_fold(tamis *f, uint64_t by) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_FOLD, "be folded");
    if (rc) return rc;
    uint64_t word[TAMIS_WORDS];
    memcpy(word, f->image.body.word, sizeof word);
    rc = f->kind->reshape->fold(&f->image.body, by, word);
    return rc || by == 1 ? rc : tamis__reshape(f, word);
}

tamis_status tamis_shrink(tamis *f, unsigned keep) {
    tamis_status rc = tamis__may(f, TAMIS_CAN_SHRINK, "be shrunk");
    if (rc) return rc;
    uint64_t word[TAMIS_WORDS];
    memcpy(word, f->image.body.word, sizeof word);
    rc = f->kind->reshape->shrink(&f->image.body, keep, word);
    return rc ? rc : tamis__reshape(f, word);
}
