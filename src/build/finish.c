/* SPDX-License-Identifier: MIT */
/* Building, the second half: from records to a filter.
 *
 *     sort      partitions, on all threads; drops equal records, counts everything
 *     shape     the kind computes its parameters from the number of records
 *     segments  records are read in order and cut; each thread makes one segment at a time
 *     out       segments are written in order, then the tail and the offsets: to disk or to memory
 *     verify    every record is queried
 *
 * Whatever fails, and wherever it is stopped, the builder still has its records. */
#include <string.h>

#include "build/stages.h"
#include "core/saving.h"
#include "file/disk.h"
#include "kinds/segments.h"
#include "tamis_engine.h"

enum { REPORT_EVERY = 1 << 16 };

/* ---- Shape ---------------------------------------------------------------------------------- */

/* The number that a capacity limits. Known-good keys are not part of it; where values are joined, a
 * key that came with many values takes one place. */
static uint64_t keys_counted(const tamis_kind *kind, const tamis_census *census) {
    if (TAMIS_ENTRY(kind, special, labels)) return census->largest;
    if (kind->build && kind->build->member) return census->records - census->zeros;
    return TAMIS_ENTRY(kind, values, put) ? census->keys : census->records;
}

tamis_status tamis__shape_for(const tamis_builder *b, uint64_t count, uint64_t segment,
                              tamis_params *params, tamis_image *image) {
    tamis_parsed_spec r = b->request;
    tamis_shape shape;
    const tamis_kind *kind = b->filter->kind;
    if (!r.has_capacity || (kind->build && r.params.capacity < count)) r.params.capacity = count;
    r.has_capacity = true;
    if (kind->build && !kind->build->whole) {
        r.params.has_option[0] = true;
        r.params.option[0] = segment;
    }
    const tamis_status rc = tamis__request_plan(&r, &shape);
    if (rc) return rc;
    tamis__take_shape(image, &shape);
    *params = r.params;
    return TAMIS_OK;
}

/* The image for the census, without bytes yet, in segments of `segment` keys. */
static tamis_status shape_image(const tamis_builder *b, uint64_t segment, tamis_image *image,
                                uint64_t *expected) {
    const tamis_kind *kind = b->filter->kind;
    const tamis_census *census = &b->census;
    tamis_params params;
    tamis_status rc = TAMIS_OK;
    *image = b->filter->image;
    if (!b->is_continued)
        rc = tamis__shape_for(b, keys_counted(kind, census), segment, &params, image);
    *expected = image->body.size;
    if (!rc && kind->build) {
        image->body.word[TAMIS_SEGMENT_KEYS] = segment;
        rc = kind->build->fit(b->is_continued ? NULL : &params, census, image->body.word);
        image->body.items = census->records;
    }
    return rc;
}

/* Segments of the requested size, unless the memory limit is too small for them: then the largest
 * that it allows. The number of threads does not matter: it would show in the bytes. */
static tamis_status shape_segments(tamis_builder *b, tamis_image *image) {
    const uint64_t asked = tamis__segment_asked(b), total = b->census.records;
    uint64_t segment = asked, expected, now;
    tamis_status rc = shape_image(b, segment, image, &expected);
    now = expected;
    while (!rc && !tamis__segments_fit(b, image->body.word, total)) {
        if (segment == TAMIS_SEGMENT_MIN_KEYS)
            return tamis__too_little(b, "making segments of them");
        segment = tamis__segment_next(segment);
        if (shape_image(b, segment, image, &now))
            return tamis__too_little(b, "segments as large as the size asks for");
    }
    b->info = (struct tamis_builder_info){
        .records = total,
        .segments = image->body.word[TAMIS_SEGMENTS],
        .segment = segment,
        .segment_asked = asked,
        .bits_more = total && now > expected ? (double)(now - expected) * 8 / (double)total : 0,
    };
    return rc;
}

static tamis_status sort_and_shape(tamis_builder *b, tamis_image *image) {
    uint64_t expected;
    const tamis_status rc = tamis__sort_records(b);
    if (rc) return rc;
    return b->filter->kind->build ? shape_segments(b, image) : shape_image(b, 0, image, &expected);
}

tamis_status tamis__room_for(const tamis_builder *b, const tamis_image *image, tamis **out) {
    const struct tamis_options kept = tamis__options_of(b->filter);
    const tamis_status rc = tamis__new_with(out, image, &b->filter->allocator, &kept);
    if (!rc && b->filter->kind->start) b->filter->kind->start(&(*out)->image.body);
    return rc;
}

/* ---- Kinds that take adds ------------------------------------------------------------------- */

static tamis_status put_all(tamis *f, const uint64_t *hash, const uint64_t *value, size_t n) {
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; i < n && !rc; i++) rc = tamis_put_hash(f, hash[i], value[i]);
    return rc;
}

/* Adds the records, in order, to an empty filter. The shape of a growing filter depends on how adds
 * are cut into calls: the cut is always the same. */
static tamis_status add_records(tamis_builder *b, tamis *f, uint64_t *room) {
    const uint64_t total = tamis__records_count(b->records);
    tamis_record_cursor cursor = {0};
    uint64_t hash[TAMIS_BATCH], value[TAMIS_BATCH];
    tamis_status rc = tamis__report(b, TAMIS_STAGE_BUILD, 0, total);
    for (uint64_t done = 0; !rc && done < total;) {
        const size_t n =
            tamis__records_read(b->records, &cursor, room, TAMIS_BATCH, hash, value, &rc);
        if (rc) return rc;
        rc = f->can & TAMIS_CAN_PUT ? put_all(f, hash, value, n) : tamis_add_hashes(f, hash, n);
        done += n;
        if (!rc && (done == total || done % REPORT_EVERY == 0))
            rc = tamis__report(b, TAMIS_STAGE_BUILD, done, total);
    }
    return rc;
}

static tamis_status fill(tamis_builder *b, tamis *f) {
    tamis_block block;
    uint64_t *room = tamis__get(&f->allocator, TAMIS_RECORDS_ROOM, &block);
    if (!room) return TAMIS_NOMEM;
    const tamis_status rc = add_records(b, f, room);
    tamis__block_free(&f->allocator, &block);
    /* Equal records were dropped where they have no effect; items still counts all adds. */
    if (!rc) f->image.body.items = b->adds;
    return rc;
}

/* ---- To memory ------------------------------------------------------------------------------ */

/* A part of the payload, waiting for the others. */
typedef struct piece {
    struct piece *next;
    tamis_block block;
    uint64_t size;
    uint8_t *bytes;
} piece;

typedef struct heap_sink {
    tamis_sink sink;
    uint64_t max_bytes;
    const struct tamis_allocator *allocator;
    piece *first, **last;
} heap_sink;

static tamis_status append_piece(tamis_sink *sink, const void *bytes, uint64_t size) {
    heap_sink *s = (heap_sink *)sink;
    tamis_block block;
    const tamis_status rc = tamis__within_limit(s->max_bytes, sink->size + size);
    if (rc) return rc;
    piece *p = tamis__get(s->allocator, sizeof *p + size, &block);
    if (!p) return TAMIS_NOMEM;
    *p = (piece){.block = block, .size = size, .bytes = (uint8_t *)(p + 1)};
    memcpy(p->bytes, bytes, (size_t)size);
    *s->last = p;
    s->last = &p->next;
    sink->size += size;
    return TAMIS_OK;
}

/* Copies the pieces to `to`, unless that is NULL, and frees each at once: so both together hardly
 * take more memory than one of them. */
static void empty_sink(heap_sink *s, uint8_t *to) {
    for (piece *p = s->first; p;) {
        piece *next = p->next;
        tamis_block block = p->block;
        if (to) {
            memcpy(to, p->bytes, (size_t)p->size);
            to += p->size;
        }
        tamis__block_free(s->allocator, &block);
        p = next;
    }
}

static tamis_status build_in_memory(tamis_builder *b, tamis_image *image, tamis **out) {
    heap_sink s = {.sink.append = append_piece, .allocator = &b->filter->allocator};
    s.max_bytes = b->filter->max_bytes;
    s.last = &s.first;
    tamis_status rc = tamis__make_payload(b, image->body.word, &s.sink);
    if (!rc) rc = b->filter->kind->check(image->body.word, &image->body.size);
    if (!rc) rc = tamis__room_for(b, image, out);
    empty_sink(&s, rc ? NULL : (*out)->image.body.bytes);
    return rc;
}

/* Makes the filter from the records; the builder keeps them. */
static tamis_status make_filter(tamis_builder *b, tamis **out) {
    const bool is_built = b->filter->kind->build;
    tamis_image image;
    tamis_status rc = sort_and_shape(b, &image);
    if (!rc) rc = is_built ? build_in_memory(b, &image, out) : tamis__room_for(b, &image, out);
    if (!rc && !is_built) rc = fill(b, *out);
    if (!rc && b->options.verify) rc = tamis__verify(b, *out);
    tamis__wipe(&image, sizeof image); /* it may hold the secret */
    return rc;
}

/* Returns the filter that keys went straight into. The builder can still hash, and be freed. */
static tamis_status hand_over(tamis_builder *b, tamis **out) {
    tamis *rest = tamis__new(&b->filter->allocator);
    if (!rest) return TAMIS_NOMEM;
    tamis__set_kind(rest, b->filter->image.entry);
    rest->image.hasher = b->filter->image.hasher;
    *out = b->filter;
    b->filter = rest;
    return TAMIS_OK;
}

tamis_status tamis__assemble(tamis_builder *b, tamis **filter) {
    const tamis_status rc = tamis__builds_whole(b->filter->kind) ? tamis__build_foreign(b, filter)
                            : b->records                         ? make_filter(b, filter)
                                                                 : hand_over(b, filter);
    if (rc) {
        tamis_free(*filter); /* what was made before it failed, or NULL */
        *filter = NULL;
        return rc;
    }
    b->is_done = true;
    tamis__records_free(b->records);
    b->records = NULL;
    tamis__block_free(&b->filter->allocator, &b->pile.block);
    b->pile = (tamis_pile){0};
    return TAMIS_OK;
}

/* ---- To disk -------------------------------------------------------------------------------- */

typedef struct disk_sink {
    tamis_sink sink;
    uint64_t max_bytes;
    tamis_new_file *file;
    tamis_sum sum;
} disk_sink;

static tamis_status append_to_file(tamis_sink *sink, const void *bytes, uint64_t size) {
    disk_sink *s = (disk_sink *)sink;
    const tamis_status rc = tamis__within_limit(s->max_bytes, sink->size + size);
    if (rc) return rc;
    tamis__sum_more(&s->sum, bytes, (size_t)size);
    sink->size += size;
    return tamis__file_append(s->file, bytes, size);
}

/* Queries the file that was just written, before it gets its name. */
static tamis_status verify_file(tamis_builder *b, const tamis_image *image,
                                const tamis_new_file *file) {
    const uint64_t size = TAMIS_IMAGE_HEADER_BYTES + image->body.size + image->notes_size;
    tamis view = {.kind = b->filter->kind, .image = *image, .allocator = b->filter->allocator};
    void *map;
    tamis__derive(&view);
    tamis_status rc = tamis__disk_map(file->fd, file->path, size, &map);
    if (!rc) {
        view.image.body.bytes = (uint8_t *)map + TAMIS_IMAGE_HEADER_BYTES;
        rc = tamis__verify(b, &view);
        tamis__disk_unmap(map, (size_t)size);
    }
    tamis__wipe(&view.image, sizeof view.image);
    return rc;
}

/* The header is first in the file and known last. */
static tamis_status write_image(tamis_builder *b, tamis_image *image, tamis_new_file *file) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES] = {0};
    disk_sink s = {.sink.append = append_to_file, .file = file};
    s.max_bytes = b->filter->max_bytes;
    tamis__sum_start(&s.sum);
    tamis_status rc = tamis__file_append(file, header, sizeof header);
    if (!rc) rc = tamis__make_payload(b, image->body.word, &s.sink);
    if (!rc) rc = b->filter->kind->check(image->body.word, &image->body.size);
    if (!rc) rc = tamis__file_append(file, image->notes, image->notes_size);
    if (rc) return rc;
    tamis__sum_more(&s.sum, image->notes, (size_t)image->notes_size);
    tamis__image_write_header(image, tamis__sum_end(&s.sum), header);
    rc = tamis__file_rewind(file);
    if (!rc) rc = tamis__file_append(file, header, sizeof header);
    tamis__wipe(header, sizeof header); /* it may hold the secret */
    if (!rc && b->options.verify) rc = verify_file(b, image, file);
    return rc;
}

/* Begins the file first: a directory that cannot hold it fails before the work, not after. */
static tamis_status build_to(tamis_builder *b, tamis_goal goal) {
    tamis_image image;
    tamis_new_file file;
    tamis_status rc = tamis__file_begin(&file, goal, tamis__readers(&b->filter->image.hasher));
    if (rc) return rc;
    rc = sort_and_shape(b, &image);
    if (!rc) rc = write_image(b, &image, &file);
    tamis__wipe(&image, sizeof image);
    if (!rc) return tamis__file_commit(&file);
    tamis__file_abandon(&file);
    return rc;
}

tamis_status tamis__assemble_to(tamis_builder *b, tamis_goal goal) {
    const bool is_whole = tamis__builds_whole(b->filter->kind);
    if (!b->records && !is_whole) return tamis__save(b->filter, goal);
    if (b->filter->kind->build && !is_whole) return build_to(b, goal);
    tamis *f = NULL;
    tamis_status rc = is_whole ? tamis__build_foreign(b, &f) : make_filter(b, &f);
    if (!rc) rc = tamis__save(f, goal);
    tamis_free(f);
    return rc;
}
