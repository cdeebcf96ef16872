/* SPDX-License-Identifier: MIT */
/* Filters in host memory: images changed in place, and payloads alone.
 *
 *     home ─▶ [ header ][ payload ............ ][ notes ][ room to grow ]
 *                       ▲ body.bytes            the handle keeps its own notes until it syncs
 */
#include <string.h>

#include "core/gate.h"
#include "tamis_engine.h"

/* ---- An image in host memory ----------------------------------------------------------------- */

tamis_status tamis__fits_home(const tamis *f, uint64_t payload, uint64_t notes) {
    const uint64_t size = TAMIS_IMAGE_HEADER_BYTES + payload + notes;
    if (!f->home || size <= f->home_size) return TAMIS_OK;
    return tamis__fail(TAMIS_FULL,
                       "the image would have %llu bytes, and the memory of the host %llu",
                       (unsigned long long)size, (unsigned long long)f->home_size);
}

static tamis_status is_aligned(const void *memory) {
    if ((uintptr_t)memory % TAMIS_ALIGNMENT == 0) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "memory of the host must start at a multiple of %d",
                       TAMIS_ALIGNMENT);
}

tamis_status tamis__settle(tamis *f, void *home, uint64_t home_size) {
    f->home = home;
    f->home_size = home_size;
    f->image.body.bytes = (uint8_t *)home + TAMIS_IMAGE_HEADER_BYTES;
    return tamis__fits_home(f, f->image.body.size, f->image.notes_size);
}

tamis_status tamis__install(tamis *f, const tamis_body *body, tamis_block *block) {
    const tamis_status rc = tamis__fits_home(f, body->size, f->image.notes_size);
    if (rc) return rc;
    f->image.body = *body;
    tamis__derive(f);
    if (f->home) {
        f->image.body.bytes = f->home + TAMIS_IMAGE_HEADER_BYTES;
        memcpy(f->image.body.bytes, body->bytes, (size_t)body->size);
    } else {
        const tamis_block before = f->payload;
        f->payload = *block;
        *block = before;
    }
    tamis__keep(f);
    return TAMIS_OK;
}

/* Other processes may have synced too: adds their items since our last sync to ours. */
tamis_status tamis_sync(tamis *f) {
    tamis_image *image = &f->image;
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES];
    if (!f->home) return tamis__fail(TAMIS_INVALID, "the filter is not in memory of a host");
    image->body.items += tamis__image_items(f->home) - f->synced_items;
    f->synced_items = image->body.items;
    if (image->notes_size)
        memcpy(image->body.bytes + image->body.size, image->notes, (size_t)image->notes_size);
    tamis__image_write_header(image, tamis__image_content_sum(image), header);
    memcpy(f->home, header, sizeof header);
    tamis__wipe(header, sizeof header); /* it may hold the secret */
    return TAMIS_OK;
}

tamis_status tamis_create_at(tamis **filter, void *memory, size_t size, const char *spec,
                             const struct tamis_options *options) {
    tamis_making m;
    *filter = NULL;
    tamis_status rc = is_aligned(memory);
    if (!rc) rc = tamis__prepare(spec, options, &m);
    if (rc) return rc;
    rc = tamis__make_empty(filter, &m, memory, size);
    tamis__wipe(&m.hasher, sizeof m.hasher);
    if (rc) return rc;
    memset(memory, 0, TAMIS_IMAGE_HEADER_BYTES); /* no items yet */
    return tamis_sync(*filter);
}

/* Copies the notes: the payload may grow over those in the image. */
static tamis_status take_notes(tamis *f, const char *notes) {
    tamis_image *image = &f->image;
    if (!image->notes_size) return TAMIS_OK;
    char *own = tamis__get(&f->allocator, image->notes_size, &f->notes);
    if (!own) return TAMIS_NOMEM;
    image->notes = memcpy(own, notes, (size_t)image->notes_size);
    return TAMIS_OK;
}

tamis_status tamis_attach(tamis **filter, void *memory, size_t size,
                          const struct tamis_options *options) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES] = {0};
    tamis *f;
    *filter = NULL;
    tamis_status rc = is_aligned(memory);
    if (rc) return rc;
    /* Others may write to this memory, so the header is read once. */
    if (size >= sizeof header) memcpy(header, memory, sizeof header);
    const uint64_t total = size >= sizeof header ? tamis__image_total(header) : size;
    rc = tamis__gate_begin(&f, header, total < size ? total : size, options);
    if (!rc) {
        rc = tamis__settle(f, memory, size);
        f->synced_items = f->image.body.items;
        if (!rc) rc = take_notes(f, (const char *)f->image.body.bytes + f->image.body.size);
        if (!rc) rc = tamis__gate_check(f, header);
        rc = tamis__gate_end(filter, f, rc);
    }
    tamis__wipe(header, sizeof header);
    return rc;
}

/* ---- A payload alone ------------------------------------------------------------------------- */

tamis_status tamis_set_payload(tamis *f, const void *payload, size_t size) {
    tamis_body body = f->image.body;
    if (!f->is_payload)
        return tamis__fail(TAMIS_INVALID, "the filter is not a view of a payload alone");
    if (size != body.size)
        return tamis__fail(TAMIS_CORRUPT, "a payload of %zu bytes, where the spec makes %llu", size,
                           (unsigned long long)body.size);
    body.bytes = (uint8_t *)payload; /* never written: is_view */
    if (!f->is_trusted && f->kind->audit) {
        const tamis_status rc = f->kind->audit(&body);
        if (rc) return rc;
    }
    f->image.body = body;
    tamis__keep(f); /* stages may be others */
    return TAMIS_OK;
}

static tamis_status may_be_alone(const tamis_making *m) {
    const tamis_kind *kind = m->request.entry->kind;
    if (tamis__words_made(kind))
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "the shape of %s follows from its keys: it has no payload alone",
                           kind->name);
    if (m->request.key_place != TAMIS_KEY_NONE && !m->options.secret)
        return tamis__fail(TAMIS_SECRET, "a payload alone holds no secret");
    return TAMIS_OK;
}

tamis_status tamis_view_payload(tamis **filter, const char *spec, const void *payload, size_t size,
                                const struct tamis_options *options) {
    tamis_making m;
    *filter = NULL;
    tamis_status rc = tamis__prepare(spec, options, &m);
    if (rc) return rc;
    rc = may_be_alone(&m);
    tamis *f = rc ? NULL : tamis__begin(&m);
    tamis__wipe(&m.hasher, sizeof m.hasher);
    if (!f) return rc ? rc : TAMIS_NOMEM;
    f->is_view = f->is_payload = true;
    rc = tamis_set_payload(f, payload, size);
    if (!rc) tamis__derive(f);
    return tamis__gate_end(filter, f, rc);
}
