/* SPDX-License-Identifier: MIT */
/* Filters of fingerprints: making and searching them. */
#include <string.h>

#include "core/filter.h"
#include "kinds/fingerprint.h"

/* ---- Making --------------------------------------------------------------------------------- */

/* A growing buffer. */
typedef struct heap {
    tamis_block block;
    uint8_t *bytes;
    uint64_t size, room;
} heap;

struct tamis_fingerprints {
    struct tamis_options options; /* only what outlives a call: limits and threads */
    struct tamis_allocator allocator;
    tamis_block self;
    uint64_t width, rows;
    heap prints, ids, ends; /* `ends`: offset past the NUL of each id */
};

static tamis_status make_room(const struct tamis_allocator *a, heap *h, uint64_t more) {
    if (h->room - h->size >= more) return TAMIS_OK;
    heap wider = {.size = h->size, .room = 2 * (h->size + more) + 4096};
    wider.bytes = tamis__get(a, wider.room, &wider.block);
    if (!wider.bytes) return TAMIS_NOMEM;
    if (h->size) memcpy(wider.bytes, h->bytes, (size_t)h->size);
    tamis__block_free(a, &h->block);
    *h = wider;
    return TAMIS_OK;
}

static void append(heap *h, const void *bytes, uint64_t size) {
    if (size) memcpy(h->bytes + h->size, bytes, (size_t)size);
    h->size += size;
}

tamis_status tamis_fingerprints_create(tamis_fingerprints **maker, uint64_t bits,
                                       const struct tamis_options *options) {
    struct tamis_options o;
    tamis_block self;
    *maker = NULL;
    const tamis_entry *entry;
    tamis_status rc = tamis__kind_require(TAMIS_FINGERPRINT, &entry);
    if (!rc) rc = tamis__read_options(options, &o);
    if (rc) return rc;
    if (bits < 1 || bits > TAMIS_PRINT_MAX_BITS)
        return tamis__fail(TAMIS_INVALID, "prints have from 1 to %d bits, not %llu",
                           TAMIS_PRINT_MAX_BITS, (unsigned long long)bits);
    const struct tamis_allocator allocator = tamis__allocator(&o);
    tamis_fingerprints *m = tamis__get(&allocator, sizeof *m, &self);
    if (!m) return TAMIS_NOMEM;
    m->options = (struct tamis_options){.max_bytes = o.max_bytes, .threads = o.threads};
    m->allocator = allocator;
    m->self = self;
    m->width = bits;
    *maker = m;
    return TAMIS_OK;
}

void tamis_fingerprints_free(tamis_fingerprints *m) {
    if (!m) return;
    struct tamis_allocator allocator = m->allocator;
    tamis_block self = m->self;
    tamis__block_free(&allocator, &m->prints.block);
    tamis__block_free(&allocator, &m->ids.block);
    tamis__block_free(&allocator, &m->ends.block);
    tamis__block_free(&allocator, &self);
}

static tamis_status is_print(uint64_t width, const void *print, size_t bytes) {
    if (bytes != tamis__fingerprint_bytes(width))
        return tamis__fail(TAMIS_INVALID, "a print of %llu bits has %llu bytes, not %zu",
                           (unsigned long long)width,
                           (unsigned long long)tamis__fingerprint_bytes(width), bytes);
    if (!tamis__fingerprint_strays(print, width)) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "the fingerprint has a bit past the %llu it may have",
                       (unsigned long long)width);
}

static tamis_status is_id(const char *id, size_t len) {
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)id[i] < TAMIS_PRINT_MIN_LETTER)
            return tamis__fail(TAMIS_INVALID,
                               "byte %zu of the id is %u: bytes below %d are refused", i,
                               (uint8_t)id[i], TAMIS_PRINT_MIN_LETTER);
    return TAMIS_OK;
}

tamis_status tamis_fingerprints_add(tamis_fingerprints *m, const char *id, size_t id_len,
                                    const void *print, size_t print_bytes) {
    tamis_status rc = is_print(m->width, print, print_bytes);
    if (!rc) rc = is_id(id, id_len);
    if (!rc && m->rows == TAMIS_PRINT_MAX_ROWS)
        rc = tamis__fail(TAMIS_FULL, "there are %llu prints, and no more fit",
                         (unsigned long long)m->rows);
    if (!rc) rc = make_room(&m->allocator, &m->prints, print_bytes);
    if (!rc) rc = make_room(&m->allocator, &m->ids, id_len + 1);
    if (!rc) rc = make_room(&m->allocator, &m->ends, 8);
    if (rc) return rc;
    append(&m->prints, print, print_bytes);
    append(&m->ids, id, id_len);
    append(&m->ids, "", 1);
    uint8_t end[8];
    tamis__put64(end, m->ids.size);
    append(&m->ends, end, sizeof end);
    m->rows++;
    return TAMIS_OK;
}

static void fill(const tamis_fingerprints *m, tamis_body *f) {
    const uint64_t bytes = tamis__fingerprint_bytes(m->width);
    const uint8_t *prints = m->prints.bytes;
    for (uint64_t row = 0; row < m->rows; row++)
        tamis__fingerprints_tally(f, tamis__fingerprint_set_bits(prints + row * bytes, bytes));
    tamis__fingerprints_open(f);
    for (uint64_t row = 0, from = 0; row < m->rows; row++) {
        const uint64_t end = tamis__get64(m->ends.bytes + row * 8);
        const uint8_t *print = prints + row * bytes;
        uint8_t *to = tamis__fingerprints_place(f, row, tamis__fingerprint_set_bits(print, bytes),
                                                m->ids.bytes + from, end - from - 1);
        memcpy(to, print, (size_t)bytes);
        from = end;
    }
    tamis__fingerprints_close(f);
}

tamis_status tamis_fingerprints_finish(tamis_fingerprints *m, tamis **filter) {
    const tamis_entry *entry = tamis__kind_by_name(TAMIS_FINGERPRINT, strlen(TAMIS_FINGERPRINT));
    tamis_image image = {.entry = entry, .hasher.mode = TAMIS_HASH_XXH3, .capacity = m->rows};
    image.body = (tamis_body){
        .kind = entry->kind, .word = {m->width, m->rows, m->ids.size}, .items = m->rows};
    *filter = NULL;
    tamis_status rc = entry->kind->check(image.body.word, &image.body.size);
    if (!rc) rc = tamis__new_with(filter, &image, &m->allocator, &m->options);
    if (!rc) fill(m, &(*filter)->image.body);
    return rc;
}

/* ---- Queries -------------------------------------------------------------------------------- */

static bool has_prints(const tamis *f) {
    return f->can & TAMIS_CAN_SEARCH;
}

uint64_t tamis_fingerprint_count(const tamis *f) {
    return has_prints(f) ? f->image.body.word[TAMIS_PRINT_ROWS] : 0;
}

uint64_t tamis_fingerprint_bits(const tamis *f) {
    return has_prints(f) ? f->image.body.word[TAMIS_PRINT_WIDTH] : 0;
}

const char *tamis_fingerprint_at(const tamis *f, uint64_t row, const void **print) {
    const char *id;
    const uint8_t *bytes;
    if (row >= tamis_fingerprint_count(f)) return NULL;
    f->kind->special->prints->at(&f->image.body, row, &id, &bytes);
    if (print) *print = bytes;
    return id;
}

/* A fingerprint to search for, padded like a row. */
typedef struct asked {
    _Alignas(TAMIS_ALIGNMENT) uint8_t bytes[TAMIS_PRINT_MAX_BYTES];
    tamis_fingerprint_query query;
} asked;

static tamis_status ask(const tamis *f, const void *print, size_t bytes, double min, asked *a) {
    if (!has_prints(f)) return tamis__cannot(f, "be searched for prints");
    const uint64_t width = tamis_fingerprint_bits(f);
    const tamis_status rc = is_print(width, print, bytes);
    if (rc) return rc;
    if (!(min >= 0 && min <= 1))
        return tamis__fail(TAMIS_INVALID, "a similarity is from 0 to 1, not %g", min);
    memcpy(a->bytes, print, bytes);
    memset(a->bytes + bytes, 0, (size_t)tamis__fingerprint_stride(width) - bytes);
    a->query = (tamis_fingerprint_query){a->bytes, tamis__fingerprint_set_bits(print, bytes)};
    return TAMIS_OK;
}

static tamis_status stopped(void) {
    return tamis__fail(TAMIS_CANCELLED, "the search was stopped");
}

tamis_status tamis_fingerprints_similar(const tamis *f, const void *print, size_t print_bytes,
                                        double min, tamis_match_fn *take, void *ctx,
                                        struct tamis_search_stats *searched) {
    struct tamis_search_stats unused, *s = searched ? searched : &unused;
    asked a;
    const tamis_status rc = ask(f, print, print_bytes, min, &a);
    *s = (struct tamis_search_stats){0, 0, 0};
    if (rc) return rc;
    return f->kind->special->prints->similar(&f->image.body, &a.query, min, take, ctx, s)
               ? TAMIS_OK
               : stopped();
}

tamis_status tamis_fingerprints_nearest(const tamis *f, const void *print, size_t print_bytes,
                                        double min, struct tamis_match *matches, size_t room,
                                        size_t *found, struct tamis_search_stats *searched) {
    struct tamis_search_stats unused, *s = searched ? searched : &unused;
    asked a;
    const tamis_status rc = ask(f, print, print_bytes, min, &a);
    *s = (struct tamis_search_stats){0, 0, 0};
    *found = 0;
    if (!rc)
        *found = f->kind->special->prints->nearest(&f->image.body, &a.query, min, matches, room, s);
    return rc;
}

tamis_status tamis_fingerprints_screen(const tamis *f, const void *print, size_t print_bytes,
                                       tamis_match_fn *take, void *ctx,
                                       struct tamis_search_stats *searched) {
    struct tamis_search_stats unused, *s = searched ? searched : &unused;
    asked a;
    const tamis_status rc = ask(f, print, print_bytes, 0, &a);
    *s = (struct tamis_search_stats){0, 0, 0};
    if (rc) return rc;
    return f->kind->special->prints->screen(&f->image.body, &a.query, take, ctx, s) ? TAMIS_OK
                                                                                    : stopped();
}
