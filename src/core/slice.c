/* SPDX-License-Identifier: MIT */
/* Answers from a part of an image: its header, and the bytes that decide on one key. */
#include <string.h>

#include "core/memory.h"
#include "file/image.h"
#include "file/notes.h"
#include "tamis_engine.h"

_Static_assert((int)TAMIS_HEADER_BYTES == (int)TAMIS_IMAGE_HEADER_BYTES, "the header has one size");

static tamis_status find(const tamis_image *image, uint64_t hash, struct tamis_slice *slice) {
    const tamis_body *whole = &image->body;
    tamis_body part = *whole;
    if (!TAMIS_ENTRY(whole->kind, speed, slice))
        return tamis__fail(TAMIS_UNSUPPORTED,
                           "%s has the bits of a key in several places: it has no slices",
                           whole->kind->name);
    slice->offset = TAMIS_IMAGE_HEADER_BYTES + whole->kind->speed->slice(whole, hash, &part);
    slice->size = part.size;
    slice->notes_offset = TAMIS_IMAGE_HEADER_BYTES + whole->size;
    slice->notes_size = image->notes_size;
    slice->items = whole->items;
    slice->hash = hash;
    slice->kind = image->entry->id;
    memcpy(slice->word, whole->word, sizeof slice->word);
    return TAMIS_OK;
}

tamis_status tamis_slice_find(struct tamis_slice *slice, const void *start, uint64_t image_size,
                              const struct tamis_options *options, const void *key, size_t len) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES] = {0};
    struct tamis_slice found = {0};
    struct tamis_options o;
    tamis_image image;
    if (image_size >= sizeof header) memcpy(header, start, sizeof header);
    tamis_status rc = tamis__read_options(options, &o);
    if (!rc) rc = tamis__image_read_header(&image, header, image_size, o.secret);
    if (!rc) rc = find(&image, tamis__hash(&image.hasher, key, len), &found);
    tamis__wipe(header, sizeof header); /* it may hold the secret */
    tamis__wipe(&image.hasher, sizeof image.hasher);
    return rc ? rc : tamis__fill_struct(slice, &found, sizeof found, "slice");
}

/* The part is worked out again: a struct of the caller's is no reason to read too far. */
bool tamis_slice_has(const struct tamis_slice *theirs, const void *bytes) {
    struct tamis_slice slice;
    tamis_body whole = {0};
    uint8_t hit = 1;
    if (tamis__read_struct(theirs, &slice, sizeof slice, "slice")) return true;
    const tamis_entry *entry = tamis__kind_by_id(slice.kind);
    if (!entry || !TAMIS_ENTRY(entry->kind, speed, slice)) return true;
    whole.kind = entry->kind;
    memcpy(whole.word, slice.word, sizeof whole.word);
    if (entry->kind->check(whole.word, &whole.size)) return true;
    tamis_body part = whole;
    entry->kind->speed->slice(&whole, slice.hash, &part);
    part.bytes = (uint8_t *)bytes; /* never written */
    if (part.size && part.size == slice.size)
        part.kind->query(&part, tamis__hashes(&slice.hash, 1), &hit);
    return hit;
}

tamis_status tamis_slice_note(const void *notes, size_t size, const char *name,
                              const char **value) {
    const char *at_name, *at_value;
    *value = NULL;
    if (!tamis__notes_are_legal(notes, size))
        return tamis__fail(TAMIS_CORRUPT, "damaged: the notes are not pairs of text in order");
    for (size_t at = 0; tamis__notes_next(notes, size, &at, &at_name, &at_value);)
        if (strcmp(at_name, name) == 0) *value = at_value;
    return TAMIS_OK;
}
