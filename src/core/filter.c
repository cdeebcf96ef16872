/* SPDX-License-Identifier: MIT */
/* Making, copying, reshaping and freeing a handle. */
#include "core/filter.h"

#include <string.h>

#include "file/disk.h"
#include "tamis_engine.h"

tamis *tamis__new(const struct tamis_allocator *allocator) {
    tamis_block block;
    tamis *f = tamis__get(allocator, sizeof *f, &block);
    if (!f) return NULL;
    f->self = block;
    f->allocator = *allocator;
    return f;
}

void tamis__set_kind(tamis *f, const tamis_entry *entry) {
    f->kind = f->image.body.kind = entry->kind;
    f->image.entry = entry;
}

tamis_status tamis__own(tamis *f, char **notes) {
    tamis_image *image = &f->image;
    *notes = NULL;
    image->notes = NULL;
    image->body.bytes = tamis__get(&f->allocator, image->body.size, &f->payload);
    if (!image->body.bytes) return TAMIS_NOMEM;
    if (image->notes_size) {
        *notes = tamis__get(&f->allocator, image->notes_size, &f->notes);
        if (!*notes) return TAMIS_NOMEM;
        image->notes = *notes;
    }
    return TAMIS_OK;
}

void tamis_free(tamis *f) {
    if (!f) return;
    struct tamis_allocator allocator = f->allocator;
    tamis_block self = f->self;
    tamis__block_free(&allocator, &f->payload);
    tamis__block_free(&allocator, &f->notes);
    if (f->map) tamis__disk_unmap(f->map, f->map_size);
    tamis__wipe(&f->image.hasher, sizeof f->image.hasher);
    tamis__block_free(&allocator, &self);
}

/* Bytes start at a cache line in their block; the line may lie elsewhere in the new one. */
static void *move_block(tamis_block *block, uint64_t size, tamis_mover *move, void *ctx) {
    const ptrdiff_t was_at = (uint8_t *)tamis__aligned(block) - (uint8_t *)block->base;
    void *base = move(ctx, block->base);
    if (!base) return tamis__aligned(block);
    block->base = base;
    return memmove(tamis__aligned(block), (uint8_t *)base + was_at, (size_t)size);
}

tamis *tamis_relocate(tamis *f, tamis_mover *move, void *ctx) {
    tamis_image *image = &f->image;
    if (f->payload.base) image->body.bytes = move_block(&f->payload, image->body.size, move, ctx);
    if (f->notes.base) image->notes = move_block(&f->notes, image->notes_size, move, ctx);
    tamis_block self = f->self;
    f = move_block(&self, sizeof *f, move, ctx);
    f->self = self;
    return f;
}

tamis_status tamis__writable(const tamis *f) {
    if (!f->is_view) return TAMIS_OK;
    return tamis__fail(TAMIS_READONLY, "the filter is a view of bytes that it does not own");
}

tamis_status tamis__cannot(const tamis *f, const char *what) {
    return tamis__fail(TAMIS_UNSUPPORTED, "%s cannot %s", f->kind->name, what);
}

tamis_status tamis__may(const tamis *f, enum tamis_ability ability, const char *what) {
    const tamis_status rc = tamis__writable(f);
    if (rc) return rc;
    if (f->can & ability) return TAMIS_OK;
    const bool others_can = tamis__abilities(f->kind, NULL) & ability;
    return tamis__fail(TAMIS_UNSUPPORTED, "%s cannot %s%s", f->kind->name, what,
                       others_can ? " with the options it was made with" : "");
}

bool tamis_secret(const tamis *f, uint8_t secret[TAMIS_SECRET_BYTES]) {
    if (f->image.hasher.key_place == TAMIS_KEY_NONE) return false;
    memcpy(secret, f->image.hasher.secret, TAMIS_SECRET_BYTES);
    return true;
}

void tamis__add_items(tamis *f, uint64_t more) {
    uint64_t *items = &f->image.body.items;
    *items = *items > UINT64_MAX - more ? UINT64_MAX : *items + more;
}

/* ---- Making --------------------------------------------------------------------------------- */

tamis_status tamis__make_hasher(const tamis_parsed_spec *r, const uint8_t *secret,
                                tamis_hasher *h) {
    *h = (tamis_hasher){.mode = r->mode, .key_place = r->key_place, .seed = r->params.seed};
    if (r->key_place == TAMIS_KEY_NONE) {
        if (secret) return tamis__fail(TAMIS_INVALID, "a secret needs hash=sip13 in the spec");
        return TAMIS_OK;
    }
    if (secret) {
        memcpy(h->secret, secret, sizeof h->secret);
        return TAMIS_OK;
    }
    if (r->key_place == TAMIS_KEY_OUTSIDE)
        return tamis__fail(TAMIS_SECRET, "key=outside needs a secret of %d bytes in the options",
                           TAMIS_SECRET_BYTES);
    if (!tamis__random_secret(h->secret))
        return tamis__fail(TAMIS_SECRET, "the system has no random bytes for a secret");
    return TAMIS_OK;
}

void tamis__take_shape(tamis_image *image, const tamis_shape *shape) {
    image->capacity = shape->capacity;
    image->one_in = tamis__one_in(shape->fpr);
    image->body.size = shape->size;
    memcpy(image->body.word, shape->word, sizeof shape->word);
}

static tamis_status make_empty(tamis **filter, const tamis_entry *entry, const tamis_shape *shape,
                               const tamis_hasher *hasher, const struct tamis_options *options) {
    const struct tamis_allocator allocator = tamis__allocator(options);
    tamis *f = tamis__new(&allocator);
    if (!f) return TAMIS_NOMEM;
    tamis__set_kind(f, entry);
    f->threads = options->threads;
    f->max_bytes = options->max_bytes;
    f->image.hasher = *hasher;
    tamis__take_shape(&f->image, shape);
    char *no_notes;
    const tamis_status rc = tamis__own(f, &no_notes);
    if (rc) {
        tamis_free(f);
        return rc;
    }
    if (f->kind->start) f->kind->start(&f->image.body);
    tamis__settle(f);
    *filter = f;
    return TAMIS_OK;
}

tamis_status tamis_create_with(tamis **filter, const char *spec,
                               const struct tamis_options *options) {
    tamis_parsed_spec request;
    tamis_shape shape;
    tamis_hasher hasher;
    struct tamis_options o;
    *filter = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (!rc) rc = tamis__spec_parse(spec, &request);
    if (!rc) rc = tamis__request_plan(&request, &shape);
    if (!rc) rc = tamis__within_limit(o.max_bytes, shape.size);
    if (!rc) rc = tamis__make_hasher(&request, o.secret, &hasher);
    if (!rc && request.entry->kind->build)
        rc = tamis__fail(TAMIS_UNSUPPORTED, "%s is built once, from all its keys: use a builder",
                         request.entry->kind->name);
    return rc ? rc : make_empty(filter, request.entry, &shape, &hasher, &o);
}

tamis_status tamis_create(tamis **filter, const char *spec) {
    return tamis_create_with(filter, spec, NULL);
}

tamis_status tamis_copy(tamis **copy, const tamis *f) {
    *copy = NULL;
    tamis *g = tamis__new(&f->allocator);
    if (!g) return TAMIS_NOMEM;
    g->kind = f->kind;
    g->threads = f->threads;
    g->max_bytes = f->max_bytes;
    g->image = f->image;
    char *notes;
    const tamis_status rc = tamis__own(g, &notes);
    if (rc) {
        tamis_free(g);
        return rc;
    }
    memcpy(g->image.body.bytes, f->image.body.bytes, (size_t)f->image.body.size);
    if (notes) memcpy(notes, f->image.notes, (size_t)f->image.notes_size);
    tamis__settle(g);
    *copy = g;
    return TAMIS_OK;
}

tamis_status tamis__reshape(tamis *f, const uint64_t word[]) {
    tamis_body to = {.kind = f->kind, .items = f->image.body.items};
    tamis_block block;
    memcpy(to.word, word, sizeof to.word);
    tamis_status rc = f->kind->check(to.word, &to.size);
    if (!rc) rc = tamis__within_limit(f->max_bytes, to.size);
    if (rc) return rc;
    to.bytes = tamis__get(&f->allocator, to.size, &block);
    if (!to.bytes) return TAMIS_NOMEM;
    rc = f->kind->reshape->move(&to, &f->image.body);
    if (rc) {
        tamis__block_free(&f->allocator, &block);
        return rc;
    }
    tamis__block_free(&f->allocator, &f->payload);
    f->payload = block;
    f->image.body = to;
    tamis__settle(f);
    return TAMIS_OK;
}
