/* SPDX-License-Identifier: MIT */
/* Builds kinds of other systems that are built once: collects hashes as they come, and the kind
 * makes its whole payload from all of them.
 *
 *     keys ──the origin's hash──▶ pile ──sorted and distinct, where the kind is a set──▶ fit, make
 *
 * Nothing is written to disk: these filters have as many keys as fit in the memory of the programs
 * they come from. */
#include <string.h>

#include "build/stages.h"
#include "core/radix.h"
#include "tamis_engine.h"

/* ---- The pile ------------------------------------------------------------------------------- */

/* Bytes for n keys under a limit: their hashes, plus the larger of the needs of making the filter
 * and of sorting, or moving to a larger pile. */
static uint64_t need(const tamis_builder *b, uint64_t n) {
    const tamis_build_whole *whole = b->filter->kind->build->whole;
    const uint64_t held = tamis__builder_memory(b) - b->pile.block.size;
    const uint64_t pile = n * sizeof *b->pile.hash;
    tamis_image image = b->filter->image;
    tamis_params params;
    const bool has_shape = whole->work && !tamis__shape_for(b, n, 0, &params, &image);
    const uint64_t work = has_shape ? whole->work(image.body.word, n) : 0;
    return held + pile + (work > pile ? work : pile) + 2 * TAMIS_ALIGNMENT;
}

/* The max number of keys within the limit. */
static uint64_t max_keys(const tamis_builder *b) {
    const uint64_t limit = b->options.memory_limit;
    uint64_t low = 0, high = TAMIS_MAX_CAPACITY / sizeof *b->pile.hash;
    if (limit == 0) return high;
    if (limit / sizeof *b->pile.hash < high) high = limit / sizeof *b->pile.hash;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if (need(b, middle) <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static tamis_status too_little(const tamis_builder *b, uint64_t n) {
    return tamis__fail(TAMIS_NOMEM,
                       "a memory limit of %llu bytes is too small for %s of %llu keys: these are "
                       "kept in memory; give at least %lluM",
                       (unsigned long long)b->options.memory_limit, b->filter->kind->name,
                       (unsigned long long)n, (unsigned long long)((need(b, n) >> 20) + 1));
}

tamis_status tamis__pile_start(tamis_builder *b) {
    const uint64_t announced = b->request.has_capacity ? b->request.params.capacity : 0;
    b->pile.max = max_keys(b);
    return announced > b->pile.max ? too_little(b, announced) : TAMIS_OK;
}

static uint64_t keep_distinct(uint64_t *hash, uint64_t n) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++)
        if (i == 0 || hash[i] != hash[kept - 1]) hash[kept++] = hash[i];
    return kept;
}

/* Sorts, and drops duplicates. */
static tamis_status make_set(tamis_builder *b) {
    tamis_pile *pile = &b->pile;
    const uint64_t size = pile->n * sizeof *pile->hash;
    tamis_block block;
    uint64_t *other = tamis__get(&b->filter->allocator, size, &block);
    if (!other) return TAMIS_NOMEM;
    const uint64_t *sorted = tamis__sort_hashes(pile->hash, other, pile->n);
    if (sorted != pile->hash) memcpy(pile->hash, sorted, (size_t)size);
    tamis__block_free(&b->filter->allocator, &block);
    pile->n = keep_distinct(pile->hash, pile->n);
    pile->is_set = true;
    return TAMIS_OK;
}

/* Drops duplicates from a set that would be too large with all adds. It pays when a quarter goes:
 * with less, the next sort would come soon. */
static tamis_status drop_equal(tamis_builder *b, uint64_t more) {
    tamis_pile *pile = &b->pile;
    const bool is_set = b->filter->can & TAMIS_ADDS_ONCE && pile->n > 1 && !pile->is_set;
    const tamis_status rc = is_set ? make_set(b) : TAMIS_OK;
    if (rc) return rc;
    const bool has_room = pile->n <= pile->max / 4 * 3 && more <= pile->max - pile->n;
    return has_room ? TAMIS_OK : too_little(b, pile->n + more);
}

/* Makes room for n more, and then for as many again, as far as the limit goes. */
static tamis_status make_room(tamis_builder *b, uint64_t n) {
    enum { FIRST = 1024 };
    tamis_pile *pile = &b->pile;
    if (n > pile->max - pile->n) {
        const tamis_status rc = drop_equal(b, n);
        if (rc) return rc;
    }
    const uint64_t wanted = pile->n + n;
    uint64_t room = wanted + (wanted > FIRST ? wanted : FIRST);
    if (pile->room >= wanted) return TAMIS_OK;
    if (room > pile->max) room = pile->max;
    tamis_block block;
    uint64_t *hash = tamis__get(&b->filter->allocator, room * sizeof *hash, &block);
    if (!hash) return TAMIS_NOMEM;
    if (pile->n) memcpy(hash, pile->hash, (size_t)pile->n * sizeof *hash);
    tamis__block_free(&b->filter->allocator, &pile->block);
    pile->block = block;
    pile->hash = hash;
    pile->room = room;
    return TAMIS_OK;
}

static tamis_status have_right_length(const tamis_builder *b, const struct tamis_key *keys,
                                      size_t n) {
    const size_t len = b->filter->kind->build->whole->key_bytes;
    for (size_t i = 0; i < n && len; i++)
        if (keys[i].len != len)
            return tamis__fail(TAMIS_INVALID, "keys of %s have %llu bytes, not %llu",
                               b->filter->kind->name, (unsigned long long)len,
                               (unsigned long long)keys[i].len);
    return TAMIS_OK;
}

static tamis_status pile_strings(tamis_builder *b, tamis_keys keys, size_t n, uint64_t *to) {
    tamis_spelled spelled;
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0, m; i < n && !rc; i += m) {
        m = n - i < TAMIS_BATCH ? n - i : TAMIS_BATCH;
        const struct tamis_key *strings = tamis__strings_of(keys, i, m, &spelled);
        rc = have_right_length(b, strings, m);
        if (!rc) tamis_builder_hash_many(b, strings, m, to + i);
    }
    return rc;
}

tamis_status tamis__pile_keys(tamis_builder *b, tamis_keys keys, size_t n) {
    if (n == 0) return TAMIS_OK;
    tamis_status rc = make_room(b, n);
    if (rc) return rc;
    uint64_t *to = b->pile.hash + b->pile.n;
    if (keys.hashes)
        memcpy(to, keys.hashes, n * sizeof *to);
    else
        rc = pile_strings(b, keys, n, to);
    if (rc) return rc;
    b->pile.n += n;
    b->pile.is_set = false;
    b->adds += n;
    return TAMIS_OK;
}

/* ---- A set ---------------------------------------------------------------------------------- */

static tamis_status sort_pile(tamis_builder *b) {
    const tamis_pile *pile = &b->pile;
    if (pile->is_set || pile->n < 2 || !(b->filter->can & TAMIS_ADDS_ONCE)) return TAMIS_OK;
    tamis_status rc = tamis__report(b, TAMIS_STAGE_SORT, 0, pile->n);
    if (!rc) rc = make_set(b);
    return rc ? rc : tamis__report(b, TAMIS_STAGE_SORT, pile->n, pile->n);
}

/* ---- The filter ----------------------------------------------------------------------------- */

static tamis_status shape_image(const tamis_builder *b, tamis_image *image) {
    const tamis_kind *kind = b->filter->kind;
    tamis_params params;
    *image = b->filter->image;
    tamis_status rc = tamis__shape_for(b, b->pile.n, 0, &params, image);
    if (!rc) rc = kind->build->whole->fit(&params, b->pile.hash, b->pile.n, image->body.word);
    if (!rc) rc = kind->check(image->body.word, &image->body.size);
    image->body.items = b->pile.n;
    return rc;
}

static tamis_status make_payload(const tamis_builder *b, tamis *f) {
    const tamis_build_whole *whole = f->kind->build->whole;
    const tamis_pile *pile = &b->pile;
    const uint64_t size = whole->work ? whole->work(f->image.body.word, pile->n) : 0;
    tamis_block block = {0};
    void *work = NULL;
    tamis_status rc = tamis__report(b, TAMIS_STAGE_BUILD, 0, pile->n);
    if (!rc && size) work = tamis__get(&b->filter->allocator, size, &block);
    if (!rc && size && !work) rc = TAMIS_NOMEM;
    if (!rc) rc = whole->make(&f->image.body, pile->hash, pile->n, work);
    tamis__block_free(&b->filter->allocator, &block);
    return rc ? rc : tamis__report(b, TAMIS_STAGE_BUILD, pile->n, pile->n);
}

static tamis_status verify(const tamis_builder *b, const tamis *f) {
    const tamis_pile *pile = &b->pile;
    uint8_t hit[TAMIS_BATCH];
    tamis_status rc = tamis__report(b, TAMIS_STAGE_VERIFY, 0, pile->n);
    for (uint64_t i = 0; i < pile->n && !rc; i += TAMIS_BATCH) {
        const size_t n = pile->n - i < TAMIS_BATCH ? (size_t)(pile->n - i) : TAMIS_BATCH;
        f->kind->build->whole->query(&f->image.body, tamis__hashes(pile->hash + i, n), hit);
        if (memchr(hit, 0, n))
            return tamis__fail(TAMIS_CORRUPT,
                               "the filter that was built lacks a key: is the memory "
                               "of this machine sound?");
        rc = tamis__report(b, TAMIS_STAGE_VERIFY, i + n, pile->n);
    }
    return rc;
}

tamis_status tamis__build_foreign(tamis_builder *b, tamis **filter) {
    tamis_image image;
    tamis_status rc = sort_pile(b);
    if (!rc) rc = shape_image(b, &image);
    if (!rc) rc = tamis__room_for(b, &image, filter);
    if (!rc) rc = make_payload(b, *filter);
    return !rc && b->options.verify ? verify(b, *filter) : rc;
}
