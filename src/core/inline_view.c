/* SPDX-License-Identifier: MIT */
/* Views for inlined code (include/tamis_inline.h), and the same code through a handle. */
#include "tamis_inline.h"

#include "core/filter.h"
#include "hash/hash.h"

/* Does the code of tamis_inline.h know this hash? */
static bool is_known_hash(tamis_hash_mode mode) {
    return mode == TAMIS_HASH_XXH3 || mode == TAMIS_HASH_MIX8;
}

/* Everything about the filter, in our layout. */
static tamis_status look(const tamis *f, struct tamis_inline *fast) {
    const tamis_hash_mode mode = f->image.hasher.mode;
    if (!is_known_hash(mode))
        return tamis__fail(TAMIS_UNSUPPORTED, "a fast view needs hash=xxh3 or mix8, not %s",
                           tamis__hash_name(mode));
    if (!TAMIS_ENTRY(f->kind, speed, inline_view))
        return tamis__cannot(f, "be seen by a fast view: blocked, split and fuse can");
    if (!f->kind->speed->inline_view(&f->image.body, fast))
        return tamis__cannot(f, "be seen by a fast view with the options it was made with");
    fast->hash = mode == TAMIS_HASH_MIX8 ? TAMIS_INLINE_MIX8 : TAMIS_INLINE_XXH3;
    fast->flip = f->flip;
    return TAMIS_OK;
}

/* Blocks are as in the second version of the header, whose struct ended with the hash. A header
 * older than the filter's rule would look in the wrong places, and one whose struct lacks a field
 * would never see it. */
static tamis_status is_known(const struct tamis_inline *theirs, enum tamis_inline_rule rule) {
    const bool is_old = rule < TAMIS_INLINE_FUSE;
    const unsigned version = is_old ? 2 : TAMIS_INLINE_VERSION;
    const size_t size = is_old ? offsetof(struct tamis_inline, arity) : sizeof *theirs;
    if (theirs->struct_size >= size && theirs->version >= version) return TAMIS_OK;
    return tamis__fail(TAMIS_UNSUPPORTED,
                       "a fast view of this filter needs a newer tamis_inline.h");
}

tamis_status tamis_inline_view(const tamis *f, struct tamis_inline *fast) {
    struct tamis_inline full = {.bytes = f->image.body.bytes, .version = TAMIS_INLINE_VERSION};
    tamis_status rc = tamis__check_struct(fast, "inline");
    if (!rc) rc = look(f, &full);
    if (!rc) rc = is_known(fast, full.rule);
    return rc ? rc : tamis__fill_struct(fast, &full, sizeof full, "inline");
}

tamis_status tamis_inline_edit(tamis *f, struct tamis_inline *fast) {
    const tamis_status rc = tamis__may(f, TAMIS_CAN_ADD, "take keys");
    return rc ? rc : tamis_inline_view(f, fast);
}

void tamis_inline_done(tamis *f, struct tamis_inline *fast) {
    tamis__add_items(f, fast->added);
    fast->added = 0;
}

/* ---- Through a handle ----------------------------------------------------------------------- */

/* The code of tamis_inline.h for blocks. Without vector units nothing is faster than the general
 * path. */
static tamis_one inlined(const tamis *f) {
#if TAMIS_HAS_X86
    struct tamis_inline fast = {0};
    const uint32_t cpu = tamis__cpu();
    const bool is_mix8 = f->image.hasher.mode == TAMIS_HASH_MIX8;
    if (TAMIS_ENTRY(f->kind, speed, inline_view) &&
        f->kind->speed->inline_view(&f->image.body, &fast) &&
        fast.rule <= TAMIS_INLINE_SPLIT_PARQUET) {
        if (cpu & TAMIS_CPU_AVX512) return tamis__one_avx512[is_mix8][fast.rule];
        if (cpu & TAMIS_CPU_AVX2) return tamis__one_avx2[is_mix8][fast.rule];
    }
#endif
    (void)f;
    return (tamis_one){0};
}

/* Functions of a kind hash integers by XXH3, those of tamis_inline.h by mix8 too. */
void tamis__choose_one(tamis *f) {
    const tamis_hasher *h = &f->image.hasher;
    const bool is_own = TAMIS_ENTRY(f->kind, speed, one);
    f->one = is_own ? f->kind->speed->one(f->image.body.word) : inlined(f);
    if (!f->one.has) f->one.has = TAMIS_ENTRY(f->kind, speed, has);
    if (is_own ? h->mode != TAMIS_HASH_XXH3 : !is_known_hash(h->mode)) f->one.has_number = NULL;
    f->flip = h->mode == TAMIS_HASH_MIX8 ? tamis__mix8_flip(h->seed) : tamis__xxh3_flip(h->seed);
}
