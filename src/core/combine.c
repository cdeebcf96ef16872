/* Whole filters against each other: merge, intersect; and smaller ones: fold, shrink. */
#include <string.h>

#include "core/builder.h"
#include "core/filter.h"

const char *tamis_mismatch(const tamis *a, const tamis *b) {
    const tamis_hasher *x = &a->image.hasher, *y = &b->image.hasher;
    if (a->kind != b->kind) {
        tamis__fail(TAMIS_MISMATCH, "kinds differ: %s and %s", a->kind->name, b->kind->name);
        return tamis_why();
    }
    for (int i = 0; i < TAMIS_WORDS; i++) {
        const uint64_t v = a->image.body.word[i], w = b->image.body.word[i];
        if (v == w || tamis__words_made(a->kind) >> i & 1) continue;
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

static tamis_status may_combine(const tamis *into, const tamis *from, enum tamis_ability ability,
                                const char *verb) {
    const tamis_status rc = tamis__may(into, ability, verb);
    if (rc) return rc;
    return tamis_mismatch(into, from) ? TAMIS_MISMATCH : TAMIS_OK;
}

/* Items of the result are bounds: no more keys than both had together, than the smaller had. */
tamis_status tamis_merge(tamis *into, const tamis *from) {
    tamis_status rc = may_combine(into, from, TAMIS_CAN_MERGE, "be merged");
    if (rc) return rc;
    if (into->kind->build) return tamis__merge_built(into, from);
    const uint64_t more = from->image.body.items; /* before, for a merge with itself */
    rc = into->kind->merge(&into->image.body, &from->image.body);
    if (!rc) tamis__add_items(into, more);
    return rc;
}

tamis_status tamis_intersect(tamis *into, const tamis *from) {
    tamis_status rc = may_combine(into, from, TAMIS_CAN_INTERSECT, "be intersected");
    if (rc) return rc;
    uint64_t *items = &into->image.body.items;
    rc = into->kind->intersect(&into->image.body, &from->image.body);
    if (!rc && from->image.body.items < *items) *items = from->image.body.items;
    return rc;
}

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
