/* SPDX-License-Identifier: MIT */
/* Filters as bytes: loading, viewing, mapping, reading, saving, and their notes. */
#include <errno.h>
#include <string.h>

#include "core/gate.h"
#include "core/saving.h"
#include "file/disk.h"
#include "file/notes.h"

/* Bytes between two looks at whether to stop: about a millisecond. */
#define PART ((uint64_t)1 << 22)

/* ---- Saving --------------------------------------------------------------------------------- */

uint64_t tamis_image_size(const tamis *f) {
    return TAMIS_IMAGE_HEADER_BYTES + f->image.body.size + f->image.notes_size;
}

const void *tamis_payload(const tamis *f, uint64_t *size_bytes) {
    if (size_bytes) *size_bytes = f->image.body.size;
    return f->image.body.bytes;
}

/* A run of bytes. */
typedef struct part {
    const void *bytes;
    uint64_t size;
} part;

/* The image is three of them; copies the part of one that is in [offset, offset + size). */
static void copy_part(part run, uint64_t starts_at, uint64_t offset, uint8_t *out, uint64_t size) {
    const uint64_t from = offset > starts_at ? offset : starts_at;
    const uint64_t part_end = starts_at + run.size, end = offset + size;
    const uint64_t to = end < part_end ? end : part_end;
    if (from < to)
        memcpy(out + (from - offset), (const uint8_t *)run.bytes + (from - starts_at),
               (size_t)(to - from));
}

tamis_status tamis_serialize_at(const tamis *f, uint64_t offset, void *bytes, size_t size) {
    const uint64_t total = tamis_image_size(f);
    const tamis_image *image = &f->image;
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES];
    if (offset > total || size > total - offset)
        return tamis__fail(TAMIS_INVALID, "the image has %llu bytes, not %zu from %llu on",
                           (unsigned long long)total, size, (unsigned long long)offset);
    if (offset < sizeof header) {
        tamis__image_write_header(image, tamis__image_content_sum(image), header);
        copy_part((part){header, sizeof header}, 0, offset, bytes, size);
        tamis__wipe(header, sizeof header); /* it may hold the secret */
    }
    copy_part((part){image->body.bytes, image->body.size}, sizeof header, offset, bytes, size);
    if (image->notes_size)
        copy_part((part){image->notes, image->notes_size}, sizeof header + image->body.size, offset,
                  bytes, size);
    return TAMIS_OK;
}

tamis_status tamis_serialize(const tamis *f, void *image, size_t size) {
    if (size < tamis_image_size(f))
        return tamis__fail(TAMIS_INVALID, "the image has %llu bytes, the room is for %zu",
                           (unsigned long long)tamis_image_size(f), size);
    return tamis_serialize_at(f, 0, image, (size_t)tamis_image_size(f));
}

enum tamis_readers tamis__readers(const tamis_hasher *hasher) {
    return hasher->key_place == TAMIS_KEY_INSIDE ? TAMIS_READERS_OWNER : TAMIS_READERS_USUAL;
}

/* Sums the content, in pieces between which the caller may stop. */
static tamis_status sum_content(const tamis *f, uint64_t *sum) {
    const tamis_image *image = &f->image;
    const uint64_t size = image->body.size;
    tamis_sum running;
    tamis_status rc = TAMIS_OK;
    tamis__sum_start(&running);
    for (uint64_t at = 0; at < size && !rc; at += PART) {
        rc = tamis__stopped(f);
        if (!rc)
            tamis__sum_more(&running, image->body.bytes + at,
                            (size_t)(size - at < PART ? size - at : PART));
    }
    if (image->notes_size) tamis__sum_more(&running, image->notes, (size_t)image->notes_size);
    *sum = tamis__sum_end(&running);
    return rc;
}

static tamis_status write_image(const tamis *f, const uint8_t *header, tamis_new_file *file) {
    const tamis_body *body = &f->image.body;
    tamis_status rc = tamis__file_append(file, header, TAMIS_IMAGE_HEADER_BYTES);
    for (uint64_t at = 0; at < body->size && !rc; at += PART) {
        rc = tamis__stopped(f);
        if (!rc)
            rc = tamis__file_append(file, body->bytes + at,
                                    body->size - at < PART ? body->size - at : PART);
    }
    return rc ? rc : tamis__file_append(file, f->image.notes, f->image.notes_size);
}

static tamis_status save(const tamis *f, tamis_goal goal) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES];
    tamis_new_file file;
    uint64_t sum;
    tamis_status rc = sum_content(f, &sum);
    if (!rc) rc = tamis__file_begin(&file, goal, tamis__readers(&f->image.hasher));
    if (rc) return rc;
    tamis__image_write_header(&f->image, sum, header);
    rc = write_image(f, header, &file);
    tamis__wipe(header, sizeof header); /* it may hold the secret */
    if (!rc) return tamis__file_commit(&file);
    tamis__file_abandon(&file);
    return rc;
}

tamis_status tamis__save(const tamis *f, tamis_goal goal) {
    const int saved = errno;
    const tamis_status rc = save(f, goal);
    errno = saved;
    return rc;
}

tamis_status tamis_save(const tamis *f, const char *path) {
    return tamis__save(f, (tamis_goal){path, NULL});
}

/* ---- Loading: everything passes the two halves of the gate ----------------------------------- */

tamis_status tamis__gate_begin(tamis **out, const uint8_t *header, uint64_t total,
                               const struct tamis_options *options) {
    struct tamis_options o;
    tamis_image image;
    tamis_status rc = tamis__read_options(options, &o);
    if (!rc) rc = tamis__image_read_header(&image, header, total, o.secret);
    if (!rc) rc = tamis__within_limit(o.max_bytes, image.body.size);
    if (rc) return rc;
    const struct tamis_allocator allocator = tamis__allocator(&o);
    tamis *f = tamis__new(&allocator);
    if (!f) return TAMIS_NOMEM;
    f->kind = image.entry->kind;
    tamis__keep_options(f, &o);
    f->image = image;
    tamis__derive(f);
    *out = f;
    return TAMIS_OK;
}

tamis_status tamis__gate_end(tamis **filter, tamis *f, tamis_status rc) {
    if (rc) {
        tamis_free(f);
        return rc;
    }
    tamis__keep(f);
    *filter = f;
    return TAMIS_OK;
}

tamis_status tamis__gate_check(const tamis *f, const uint8_t *header) {
    uint64_t sum;
    if (f->is_trusted) return tamis__image_check_notes(&f->image);
    tamis_status rc = sum_content(f, &sum);
    if (!rc) rc = tamis__image_check_content(&f->image, header, sum);
    return rc ? rc : tamis__stopped(f);
}

tamis_status tamis_load_with(tamis **filter, const void *image, size_t size,
                             const struct tamis_options *options) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES] = {0};
    tamis *f;
    char *notes;
    *filter = NULL;
    /* The caller's bytes may change at any time: each is copied once, and only the copy is
     * trusted. */
    if (size >= sizeof header) memcpy(header, image, sizeof header);
    tamis_status rc = tamis__gate_begin(&f, header, size, options);
    if (rc) goto done;
    rc = tamis__own(f, &notes);
    if (!rc) {
        const uint8_t *payload = (const uint8_t *)image + sizeof header;
        rc = tamis__copy_bytes(f, f->image.body.bytes, payload, f->image.body.size);
        if (notes) memcpy(notes, payload + f->image.body.size, (size_t)f->image.notes_size);
        if (!rc) rc = tamis__gate_check(f, header);
    }
    rc = tamis__gate_end(filter, f, rc);
done:
    tamis__wipe(header, sizeof header); /* it may hold the secret */
    return rc;
}

/* Borrows payload and notes from the image. */
static tamis_status view(tamis **filter, const uint8_t *bytes, size_t size,
                         const struct tamis_options *options) {
    tamis *f;
    const tamis_status rc = tamis__gate_begin(&f, bytes, size, options);
    if (rc) return rc;
    f->is_view = true;
    f->image.body.bytes = (uint8_t *)bytes + TAMIS_IMAGE_HEADER_BYTES; /* never written: is_view */
    f->image.notes = (const char *)f->image.body.bytes + f->image.body.size;
    return tamis__gate_end(filter, f, tamis__gate_check(f, bytes));
}

tamis_status tamis_view_with(tamis **filter, const void *image, size_t size,
                             const struct tamis_options *options) {
    *filter = NULL;
    return view(filter, image, size, options);
}

tamis_status tamis_map_with(tamis **filter, const char *path, const struct tamis_options *options) {
    const int saved = errno;
    uint64_t size;
    void *map = NULL;
    int fd;
    struct tamis_options o;
    *filter = NULL;
    tamis_status rc = tamis__read_options(options, &o);
    if (!rc) rc = tamis__disk_open(path, &fd, &size);
    if (rc) goto done;
    if (size) rc = tamis__disk_map(fd, path, size, &map);
    tamis__disk_close(fd);
    if (rc) goto done;
    if (map && o.pages != TAMIS_PAGES_PLAIN) tamis__advise_large(map, (size_t)size);
    rc = view(filter, map, (size_t)size, options);
    if (!rc) {
        (*filter)->map = map;
        (*filter)->map_size = (size_t)size;
    } else {
        if (map) tamis__disk_unmap(map, (size_t)size);
        tamis__fail_in(rc, path);
    }
done:
    errno = saved;
    return rc;
}

/* Reads payload and notes to their place. Pieces are summed while they are in cache: a second pass
 * over 1.2 GB took a fifth of the time of a small query. */
static tamis_status read_content(int fd, const char *path, tamis *f, char *notes, uint64_t *sum) {
    const uint64_t max = (uint64_t)1 << 18;
    tamis_sum running;
    tamis_status rc = TAMIS_OK;
    tamis__sum_start(&running);
    for (uint64_t at = 0, size = f->image.body.size; at < size && !rc; at += max) {
        const uint64_t some = size - at < max ? size - at : max;
        rc = tamis__stopped(f);
        if (!rc) rc = tamis__disk_read(fd, path, f->image.body.bytes + at, some);
        if (!rc && !f->is_trusted)
            tamis__sum_more(&running, f->image.body.bytes + at, (size_t)some);
    }
    if (!rc && notes) {
        rc = tamis__disk_read(fd, path, notes, f->image.notes_size);
        if (!rc) tamis__sum_more(&running, notes, (size_t)f->image.notes_size);
    }
    *sum = tamis__sum_end(&running);
    return rc;
}

tamis_status tamis__read_from(tamis **filter, int fd, uint64_t size, const char *path,
                              const struct tamis_options *options) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES] = {0};
    uint64_t sum;
    tamis *f;
    char *notes;
    tamis_status rc = TAMIS_OK;
    if (size >= sizeof header) rc = tamis__disk_read(fd, path, header, sizeof header);
    if (!rc) rc = tamis__gate_begin(&f, header, size, options);
    if (!rc) {
        rc = tamis__own(f, &notes);
        if (!rc) rc = read_content(fd, path, f, notes, &sum);
        if (!rc) rc = tamis__disk_is_read(fd, path);
        if (!rc && f->is_trusted) rc = tamis__image_check_notes(&f->image);
        if (!rc && !f->is_trusted) rc = tamis__image_check_content(&f->image, header, sum);
        if (!rc) rc = tamis__stopped(f);
        rc = tamis__gate_end(filter, f, rc);
    }
    if (rc && rc != TAMIS_IO) tamis__fail_in(rc, path);
    tamis__wipe(header, sizeof header);
    return rc;
}

tamis_status tamis_read_with(tamis **filter, const char *path,
                             const struct tamis_options *options) {
    const int saved = errno;
    uint64_t size;
    int fd;
    *filter = NULL;
    tamis_status rc = tamis__disk_open(path, &fd, &size);
    if (!rc) {
        rc = tamis__read_from(filter, fd, size, path, options);
        tamis__disk_close(fd);
    }
    errno = saved;
    return rc;
}

tamis_status tamis_load(tamis **filter, const void *image, size_t size) {
    return tamis_load_with(filter, image, size, NULL);
}

tamis_status tamis_view(tamis **filter, const void *image, size_t size) {
    return tamis_view_with(filter, image, size, NULL);
}

tamis_status tamis_map(tamis **filter, const char *path) {
    return tamis_map_with(filter, path, NULL);
}

tamis_status tamis_read(tamis **filter, const char *path) {
    return tamis_read_with(filter, path, NULL);
}

/* ---- Notes ---------------------------------------------------------------------------------- */

bool tamis_note_at(const tamis *f, size_t i, const char **name, const char **value) {
    size_t at = 0;
    do
        if (!tamis__notes_next(f->image.notes, (size_t)f->image.notes_size, &at, name, value))
            return false;
    while (i--);
    return true;
}

const char *tamis_note(const tamis *f, const char *wanted) {
    const char *name, *value;
    for (size_t i = 0; tamis_note_at(f, i, &name, &value); i++)
        if (strcmp(name, wanted) == 0) return value;
    return NULL;
}

tamis_status tamis_set_note(tamis *f, const char *name, const char *value) {
    tamis_status rc = tamis__writable(f);
    if (rc) return rc;
    if (!tamis__note_name_is_legal(name))
        return tamis__fail(TAMIS_INVALID,
                           "'%.70s' is not a note name: 1 to %d characters of a-z 0-9 . _ -", name,
                           TAMIS_NOTE_MAX_NAME);
    if (value && !tamis__note_value_is_legal(value))
        return tamis__fail(TAMIS_INVALID, "the value of note '%s' is not UTF-8 text", name);
    const tamis_image *image = &f->image;
    const size_t old = (size_t)image->notes_size;
    const size_t size = tamis__notes_with(image->notes, old, name, value, NULL);
    if (size > TAMIS_NOTES_MAX_BYTES)
        return tamis__fail(TAMIS_INVALID, "notes may have %d bytes in all, not %zu",
                           TAMIS_NOTES_MAX_BYTES, size);
    rc = tamis__fits_home(f, image->body.size, size);
    if (rc) return rc;
    tamis_block block = {NULL, 0};
    char *packed = NULL;
    if (size) {
        packed = tamis__get(&f->allocator, size, &block);
        if (!packed) return TAMIS_NOMEM;
        tamis__notes_with(image->notes, old, name, value, packed);
    }
    tamis__block_free(&f->allocator, &f->notes);
    f->notes = block;
    f->image.notes = packed;
    f->image.notes_size = size;
    return TAMIS_OK;
}
