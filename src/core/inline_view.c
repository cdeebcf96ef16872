/* SPDX-License-Identifier: MIT */
/* Views for code that the compiler puts in place, include/tamis_inline.h, and the same code behind
 * the handle. */
#include "tamis_inline.h"

#include "core/filter.h"
#include "hash/hash.h"

tamis_status tamis_inline_view(const tamis *f, struct tamis_inline *fast) {
    *fast = (struct tamis_inline){.bytes = f->image.body.bytes};
    if (f->image.hasher.mode != TAMIS_HASH_XXH3)
        return tamis__fail(TAMIS_UNSUPPORTED, "a fast view needs hash=xxh3, not %s",
                           tamis__hash_name(f->image.hasher.mode));
    if (!TAMIS_ENTRY(f->kind, speed, inline_view))
        return tamis__cannot(f, "be seen by a fast view: blocked and split can");
    if (!f->kind->speed->inline_view(&f->image.body, fast))
        return tamis__cannot(f, "be seen by a fast view with the options it was made with");
    fast->flip = tamis__xxh3_flip(f->image.hasher.seed);
    return TAMIS_OK;
}

tamis_status tamis_inline_edit(tamis *f, struct tamis_inline *fast) {
    const tamis_status rc = tamis__writable(f);
    return rc ? rc : tamis_inline_view(f, fast);
}

void tamis_inline_done(tamis *f, struct tamis_inline *fast) {
    tamis__add_items(f, fast->added);
    fast->added = 0;
}

/* ---- Behind the handle ---------------------------------------------------------------------- */

/* Without vector units nobody is in a hurry: the general way does. */
void tamis__settle(tamis *f) {
    f->can = tamis__abilities(f->kind, f->image.body.word);
    f->has = TAMIS_ENTRY(f->kind, speed, has);
    f->one = NULL;
#if TAMIS_HAS_X86
    struct tamis_inline fast = {0};
    const uint32_t cpu = tamis__cpu();
    if (f->image.hasher.mode != TAMIS_HASH_XXH3) return;
    if (!TAMIS_ENTRY(f->kind, speed, inline_view)) return;
    if (!f->kind->speed->inline_view(&f->image.body, &fast)) return;
    f->flip = tamis__xxh3_flip(f->image.hasher.seed);
    if (cpu & TAMIS_CPU_AVX512)
        f->one = tamis__one_avx512[fast.rule];
    else if (cpu & TAMIS_CPU_AVX2)
        f->one = tamis__one_avx2[fast.rule];
#endif
}
