/* SPDX-License-Identifier: MIT */
/* Creates, copies, reshapes and frees handles. */
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

void tamis__derive(tamis *f) {
    f->can = tamis__abilities(f->kind, f->image.body.word);
    tamis__choose_one(f);
}

void tamis__keep(tamis *f) {
    tamis_body *body = &f->image.body;
    const size_t size =
        TAMIS_ENTRY(f->kind, speed, keep) ? f->kind->speed->kept_size(body->word) : 0;
    tamis__block_free(&f->allocator, &f->kept);
    body->kept = NULL;
    void *kept = size ? tamis__get(&f->allocator, size, &f->kept) : NULL;
    if (!kept) return;
    f->kind->speed->keep(body, kept);
    body->kept = kept;
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

tamis_status tamis__new_with(tamis **filter, const tamis_image *image,
                             const struct tamis_allocator *allocator,
                             const struct tamis_options *options) {
    char *notes;
    tamis_status rc = tamis__within_limit(options->max_bytes, image->body.size);
    if (rc) return rc;
    tamis *f = tamis__new(allocator);
    if (!f) return TAMIS_NOMEM;
    f->kind = image->entry->kind;
    tamis__keep_options(f, options);
    f->image = *image;
    f->image.body.kept = NULL;
    rc = tamis__own(f, &notes);
    if (rc) {
        tamis_free(f);
        return rc;
    }
    if (notes) memcpy(notes, image->notes, (size_t)image->notes_size);
    tamis__derive(f);
    *filter = f;
    return TAMIS_OK;
}

void tamis_free(tamis *f) {
    if (!f) return;
    struct tamis_allocator allocator = f->allocator;
    tamis_block self = f->self;
    tamis__block_free(&allocator, &f->payload);
    tamis__block_free(&allocator, &f->notes);
    tamis__block_free(&allocator, &f->kept);
    if (f->map) tamis__disk_unmap(f->map, f->map_size);
    tamis__wipe(&f->image.hasher, sizeof f->image.hasher);
    tamis__block_free(&allocator, &self);
}

/* Bytes start at a cache line of their block, which may be elsewhere in the new block. */
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
    if (f->kept.base) {
        void *kept = move_block(&f->kept, f->kind->speed->kept_size(image->body.word), move, ctx);
        f->kind->speed->keep(&image->body, kept);
        image->body.kept = kept;
    }
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

void tamis__keep_options(tamis *f, const struct tamis_options *options) {
    f->threads = options->threads;
    f->max_bytes = options->max_bytes;
    f->should_stop = options->should_stop;
    f->stop_ctx = options->stop_ctx;
    f->is_trusted = options->is_trusted;
}

struct tamis_options tamis__options_of(const tamis *f) {
    return (struct tamis_options){.struct_size = sizeof(struct tamis_options),
                                  .allocator = &f->allocator,
                                  .threads = f->threads,
                                  .max_bytes = f->max_bytes,
                                  .should_stop = f->should_stop,
                                  .stop_ctx = f->stop_ctx};
}

tamis_status tamis__stopped(const tamis *f) {
    if (!f->should_stop || !f->should_stop(f->stop_ctx)) return TAMIS_OK;
    return tamis__fail(TAMIS_CANCELLED, "stopped by options.should_stop");
}

tamis_status tamis__copy_bytes(const tamis *f, void *to, const void *from, uint64_t size) {
    const uint64_t max = (uint64_t)1 << 22; /* about a millisecond */
    tamis_status rc = TAMIS_OK;
    for (uint64_t at = 0; at < size && !rc; at += max) {
        rc = tamis__stopped(f);
        if (!rc)
            memcpy((uint8_t *)to + at, (const uint8_t *)from + at,
                   (size_t)(size - at < max ? size - at : max));
    }
    return rc;
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

/* ---- Creating ------------------------------------------------------------------------------- */

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

tamis_status tamis__prepare(const char *spec, const struct tamis_options *options,
                            tamis_making *m) {
    tamis_status rc = tamis__read_options(options, &m->options);
    if (!rc) rc = tamis__spec_parse(spec, &m->request);
    if (!rc) rc = tamis__request_plan(&m->request, &m->shape);
    if (!rc) rc = tamis__within_limit(m->options.max_bytes, m->shape.size);
    return rc ? rc : tamis__make_hasher(&m->request, m->options.secret, &m->hasher);
}

tamis *tamis__begin(const tamis_making *m) {
    const struct tamis_allocator allocator = tamis__allocator(&m->options);
    tamis *f = tamis__new(&allocator);
    if (!f) return NULL;
    tamis__set_kind(f, m->request.entry);
    tamis__keep_options(f, &m->options);
    f->image.hasher = m->hasher;
    tamis__take_shape(&f->image, &m->shape);
    return f;
}

tamis_status tamis__make_empty(tamis **filter, const tamis_making *m, void *home,
                               uint64_t home_size) {
    char *no_notes;
    if (m->request.entry->kind->build)
        return tamis__fail(TAMIS_UNSUPPORTED, "%s is built once, from all its keys: use a builder",
                           m->request.entry->kind->name);
    tamis *f = tamis__begin(m);
    if (!f) return TAMIS_NOMEM;
    const tamis_status rc = home ? tamis__settle(f, home, home_size) : tamis__own(f, &no_notes);
    if (rc) {
        tamis_free(f);
        return rc;
    }
    if (home) memset(f->image.body.bytes, 0, (size_t)f->image.body.size);
    if (f->kind->start) f->kind->start(&f->image.body);
    tamis__derive(f);
    tamis__keep(f);
    *filter = f;
    return TAMIS_OK;
}

tamis_status tamis_create_with(tamis **filter, const char *spec,
                               const struct tamis_options *options) {
    tamis_making m;
    *filter = NULL;
    tamis_status rc = tamis__prepare(spec, options, &m);
    if (!rc) rc = tamis__make_empty(filter, &m, NULL, 0);
    tamis__wipe(&m.hasher, sizeof m.hasher);
    return rc;
}

tamis_status tamis_create(tamis **filter, const char *spec) {
    return tamis_create_with(filter, spec, NULL);
}

static tamis_status copy_as(tamis **copy, const tamis *f, const struct tamis_allocator *allocator,
                            const struct tamis_options *options) {
    tamis *g;
    tamis_status rc = tamis__new_with(&g, &f->image, allocator, options);
    if (rc) return rc;
    rc = tamis__copy_bytes(g, g->image.body.bytes, f->image.body.bytes, f->image.body.size);
    if (rc) {
        tamis_free(g);
        return rc;
    }
    tamis__keep(g);
    *copy = g;
    return TAMIS_OK;
}

tamis_status tamis_copy(tamis **copy, const tamis *f) {
    const struct tamis_options options = tamis__options_of(f);
    *copy = NULL;
    return copy_as(copy, f, &f->allocator, &options);
}

tamis_status tamis_copy_with(tamis **copy, const tamis *f, const struct tamis_options *options) {
    struct tamis_options o;
    *copy = NULL;
    const tamis_status rc = tamis__read_options(options, &o);
    if (rc) return rc;
    const struct tamis_allocator allocator = tamis__allocator(&o);
    return copy_as(copy, f, &allocator, &o);
}

tamis_status tamis__reshape(tamis *f, const uint64_t word[]) {
    tamis_body to = {.kind = f->kind, .items = f->image.body.items};
    tamis_block block;
    memcpy(to.word, word, sizeof to.word);
    tamis_status rc = f->kind->check(to.word, &to.size);
    if (!rc) rc = tamis__within_limit(f->max_bytes, to.size);
    if (!rc) rc = tamis__fits_home(f, to.size, f->image.notes_size);
    if (!rc) rc = tamis__stopped(f);
    if (rc) return rc;
    to.bytes = tamis__get(&f->allocator, to.size, &block);
    if (!to.bytes) return TAMIS_NOMEM;
    rc = f->kind->reshape->move(&to, &f->image.body);
    if (!rc) rc = tamis__stopped(f);
    if (!rc) rc = tamis__install(f, &to, &block);
    tamis__block_free(&f->allocator, &block);
    return rc;
}
