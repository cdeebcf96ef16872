/* SPDX-License-Identifier: MIT */
/* Pages: filters of one spec, without headers.
 *
 *     payload | items, words of the shape: 7 bits in a byte, lowest first | bytes of these, 1 byte
 *
 * The shape comes last, so that a payload begins where the page does, which hosts may align. It is
 * whole, and not only what a capacity adds to the spec: so pages stay readable when the host's spec
 * changes. */
#include "tamis_pages.h"

#include <stdio.h>
#include <string.h>

#include "core/filter.h"

enum { MAX_NAME = 96, NUMBER = 10, MAX_TAIL = (1 + TAMIS_WORDS) * NUMBER + 1 }; /* bytes */

struct tamis_page_policy {
    tamis_block self;
    struct tamis_allocator allocator;
    uint64_t max_bytes;
    bool is_trusted;
    const tamis_kind *kind;
    tamis_hasher hasher;
    char name[MAX_NAME];
    char spec[]; /* as it was given */
};

/* ---- What they have in common ---------------------------------------------------------------- */

static tamis_status may_have_pages(const tamis_parsed_spec *r, const uint8_t *secret) {
    const tamis_kind *kind = r->entry->kind;
    if (!kind->query || tamis__hashes_itself(kind))
        return tamis__fail(TAMIS_UNSUPPORTED, "%s has no pages: %s", kind->name,
                           kind->query ? "it hashes keys its own way" : "it answers no queries");
    if (r->has_capacity)
        return tamis__fail(TAMIS_INVALID,
                           "pages have no capacity: each is as large as its keys need");
    if (r->key_place != TAMIS_KEY_NONE && !secret)
        return tamis__fail(TAMIS_SECRET, "pages hold no secret: give it in the options");
    return TAMIS_OK;
}

/* "tamis-1.blocked", "tamis-1.blocked.xxh64.5": the 1 is the form of pages. */
static void name_pages(tamis_page_policy *p) {
    const tamis_hasher *h = &p->hasher;
    int used = snprintf(p->name, sizeof p->name, "tamis-1.%s", p->kind->name);
    if (h->mode != TAMIS_HASH_XXH3 || h->seed)
        snprintf(p->name + used, sizeof p->name - (size_t)used, ".%s.%llx",
                 tamis__hash_name(h->mode),
                 (unsigned long long)(h->key_place == TAMIS_KEY_NONE ? h->seed : tamis__key_id(h)));
}

static bool drop(void *ctx, const void *bytes, size_t size) {
    (void)ctx, (void)bytes, (void)size;
    return true;
}

tamis_status tamis_page_policy_create(tamis_page_policy **policy, const char *spec,
                                      const struct tamis_options *options) {
    struct tamis_options o;
    tamis_parsed_spec request;
    tamis_block self;
    *policy = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (!rc) rc = tamis__spec_parse_open(spec, &request);
    if (!rc) rc = may_have_pages(&request, o.secret);
    if (rc) return rc;
    const struct tamis_allocator allocator = tamis__allocator(&o);
    tamis_page_policy *p = tamis__get(&allocator, sizeof *p + strlen(spec) + 1, &self);
    if (!p) return TAMIS_NOMEM;
    p->self = self;
    p->allocator = allocator;
    p->max_bytes = o.max_bytes;
    p->is_trusted = o.is_trusted;
    p->kind = request.entry->kind;
    strcpy(p->spec, spec);
    rc = tamis__make_hasher(&request, o.secret, &p->hasher);
    if (!rc) rc = tamis_page_make(p, NULL, 0, drop, NULL); /* what never works fails here */
    if (rc) {
        tamis_page_policy_free(p);
        return rc;
    }
    name_pages(p);
    *policy = p;
    return TAMIS_OK;
}

void tamis_page_policy_free(tamis_page_policy *p) {
    if (!p) return;
    const struct tamis_allocator allocator = p->allocator;
    tamis_block self = p->self;
    tamis__wipe(&p->hasher, sizeof p->hasher);
    tamis__block_free(&allocator, &self);
}

const char *tamis_page_policy_name(const tamis_page_policy *p) {
    return p->name;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Kinds that are built count their keys; others get room for all of them. */
static tamis_status build(const tamis_page_policy *p, const struct tamis_options *o,
                          const struct tamis_key *keys, size_t n, tamis **filter) {
    const struct tamis_builder_options options = {.struct_size = sizeof options, .filter = o};
    tamis_builder *b;
    tamis_status rc = tamis_builder_create_with(&b, p->spec, &options);
    if (!rc) rc = tamis_builder_add_many(b, keys, n);
    if (!rc) rc = tamis_builder_finish(b, filter);
    tamis_builder_free(b);
    return rc;
}

static tamis_status fill(const tamis_page_policy *p, const struct tamis_options *o,
                         const struct tamis_key *keys, size_t n, tamis **filter) {
    const size_t room = strlen(p->spec) + sizeof ",capacity=18446744073709551615";
    char capacity[24];
    tamis_block block;
    char *spec = tamis__get(&p->allocator, room, &block);
    if (!spec) return TAMIS_NOMEM;
    snprintf(capacity, sizeof capacity, "%zu", n ? n : 1);
    tamis_status rc = TAMIS_INVALID;
    if (tamis_spec_set(p->spec, "capacity", capacity, spec, room))
        rc = tamis_create_with(filter, spec, o);
    tamis__block_free(&p->allocator, &block);
    return rc ? rc : tamis_add_many(*filter, keys, n);
}

static size_t write_number(uint64_t number, uint8_t *at) {
    size_t used = 0;
    for (; number >= 0x80; number >>= 7) at[used++] = (uint8_t)(number | 0x80);
    at[used++] = (uint8_t)number;
    return used;
}

/* Words that a kind has no name for are 0 in every shape. */
static size_t write_shape(const tamis_body *body, uint8_t tail[MAX_TAIL]) {
    size_t used = write_number(body->items, tail);
    for (int i = 0; i < TAMIS_WORDS && body->kind->word[i]; i++)
        used += write_number(body->word[i], tail + used);
    tail[used] = (uint8_t)used;
    return used + 1;
}

tamis_status tamis_page_make(const tamis_page_policy *p, const struct tamis_key *keys, size_t n,
                             tamis_write_fn *put, void *ctx) {
    const bool is_keyed = p->hasher.key_place != TAMIS_KEY_NONE;
    const struct tamis_options options = {.struct_size = sizeof options,
                                          .allocator = &p->allocator,
                                          .secret = is_keyed ? p->hasher.secret : NULL,
                                          .max_bytes = p->max_bytes};
    uint8_t tail[MAX_TAIL];
    tamis *f = NULL;
    tamis_status rc = (p->kind->build ? build : fill)(p, &options, keys, n, &f);
    if (!rc) {
        const tamis_body *body = &f->image.body;
        const size_t size = write_shape(body, tail);
        if ((body->size && !put(ctx, body->bytes, (size_t)body->size)) || !put(ctx, tail, size))
            rc = tamis__fail(TAMIS_IO, "the page was not taken: its host refused the bytes");
    }
    tamis_free(f);
    return rc;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* A number of at most 64 bits; false when the bytes end before it does. */
static bool read_number(const uint8_t **at, const uint8_t *end, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* The body of a page. Any byte may be damaged, unless the caller vouches for them. */
static bool read_body(const tamis_page_policy *p, const uint8_t *page, size_t size,
                      tamis_body *body) {
    if (size < 1 || page[size - 1] >= size) return false;
    const uint8_t *end = page + size - 1, *at = end - *end, *shape = at;
    if (!read_number(&at, end, &body->items)) return false;
    for (int i = 0; i < TAMIS_WORDS && p->kind->word[i]; i++)
        if (!read_number(&at, end, &body->word[i])) return false;
    if (at != end || p->kind->check(body->word, &body->size)) return false;
    if (body->size != (uint64_t)(shape - page)) return false;
    return p->is_trusted || !p->kind->audit || p->kind->audit(body) == TAMIS_OK;
}

bool tamis_page_has(const tamis_page_policy *p, const void *page, size_t size, const void *key,
                    size_t len) {
    tamis_body body = {.kind = p->kind, .bytes = (uint8_t *)page}; /* never written */
    uint8_t hit = 1;
    if (!read_body(p, page, size, &body)) return true;
    const uint64_t hash = tamis__hash(&p->hasher, key, len);
    if (TAMIS_ENTRY(p->kind, speed, has)) return p->kind->speed->has(&body, hash);
    p->kind->query(&body, tamis__hashes(&hash, 1), &hit);
    return hit;
}
