/* SPDX-License-Identifier: MIT */
/* Shards: cuts a filter of blocks, and joins the pieces again.
 *
 *     whole ──cut──▶ shard 0, 1, 2, ... ──join──▶ whole           the same bytes
 *     spec ──shard_spec──▶ machines that build one shard each ──join──▶ whole
 *
 * A shard's header has capacity, rate and hash of the whole; items add up. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/saving.h"
#include "file/notes.h"
#include "kinds/shard.h"

enum { I = TAMIS_SHARD_I, N = TAMIS_SHARD_N };
enum { BLOCKS, DETAIL }; /* shape words of blocked and split */

static bool is_shard(const tamis *f) {
    return f->kind == &tamis__shard;
}

/* ---- Which shard is which ------------------------------------------------------------------- */

bool tamis_shard_get_info(const tamis *f, struct tamis_shard_info *info) {
    const uint64_t *word = f->image.body.word;
    if (!is_shard(f)) return false;
    const struct tamis_shard_info full = {
        .shard = word[I],
        .shards = word[N],
        .first_block = tamis__shard_first(word),
        .blocks = tamis__shard_blocks(word),
        .total_blocks = word[TAMIS_SHARD_TOTAL],
        .layout = tamis__shard_layout(word[TAMIS_SHARD_LAYOUT])->name,
    };
    return !tamis__fill_struct(info, &full, sizeof full, "shard_info");
}

uint64_t tamis_shard_of(const tamis *f, uint64_t hash) {
    return is_shard(f) ? tamis__shard_of(f->image.body.word, hash) : 0;
}

void tamis_shards_of(const tamis *f, const uint64_t *hashes, size_t n, uint32_t *shards) {
    for (size_t i = 0; i < n; i++) shards[i] = (uint32_t)tamis_shard_of(f, hashes[i]);
}

static tamis_status not_cut(const tamis_kind *kind) {
    return tamis__fail(TAMIS_UNSUPPORTED, "%s cannot be cut into shards: blocked and split can",
                       kind->name);
}

/* Copies the pairs of a spec, except sizes, each after a comma. */
static void copy_pairs_but_size(char *to, const char *pairs) {
    for (size_t len; *pairs; pairs += len + (pairs[len] == ',')) {
        const char *name = pairs + strspn(pairs, " ");
        len = strcspn(pairs, ",");
        const size_t name_len = strcspn(name, " =");
        if (name_len == 4 && (memcmp(name, "size", 4) == 0 || memcmp(name, "bits", 4) == 0))
            continue;
        to += sprintf(to, ",%.*s", (int)len, pairs);
    }
}

enum { MAX_SPEC = 1024 };

/* A shard has the pairs of the whole. A capacity that follows from size and rate replaces the size:
 * no shard could compute it. */
static tamis_status write_shard_spec(const char *spec, uint64_t shard, uint64_t shards,
                                     char out[MAX_SPEC]) {
    char pairs[MAX_SPEC - 128];
    tamis_parsed_spec r;
    tamis_shape shape;
    uint64_t layout;
    tamis_status rc = tamis__spec_parse(spec, &r);
    if (rc) return rc;
    if (!tamis__shard_layout_of(r.entry->kind, &layout)) return not_cut(r.entry->kind);
    const size_t head = strcspn(spec, ":=");
    const char *from = spec[head] == ':' ? spec + head + 1 : spec; /* or there is no kind */
    if (strlen(from) > MAX_SPEC / 2) return tamis__fail(TAMIS_INVALID, "the spec is too long");
    rc = tamis__request_plan(&r, &shape);
    if (rc) return rc;
    if (r.has_capacity) {
        snprintf(pairs, sizeof pairs, ",%s", from);
    } else {
        const int len =
            snprintf(pairs, sizeof pairs, ",capacity=%llu", (unsigned long long)shape.capacity);
        copy_pairs_but_size(pairs + len, from);
    }
    snprintf(out, MAX_SPEC, "shard:layout=%s%s,shard=%llu,shards=%llu", r.entry->kind->name, pairs,
             (unsigned long long)shard, (unsigned long long)shards);
    return TAMIS_OK;
}

size_t tamis_shard_spec(const char *spec, uint64_t shard, uint64_t shards, char *text,
                        size_t size) {
    char made[MAX_SPEC];
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (size) *text = '\0';
    if (write_shard_spec(spec, shard, shards, made) || tamis_plan_spec(made, &plan)) return 0;
    if (size) snprintf(text, size, "%s", made);
    return strlen(made);
}

/* ---- Cutting -------------------------------------------------------------------------------- */

/* The image of one shard, without bytes yet. Which adds were its own is unknown: each gets its
 * share, and all add up. */
static tamis_status shape_shard(const tamis *whole, uint64_t i, uint64_t shards,
                                tamis_image *image) {
    const uint64_t *word = whole->image.body.word;
    uint64_t layout;
    if (!tamis__shard_layout_of(whole->kind, &layout)) return not_cut(whole->kind);
    const tamis_entry *entry;
    tamis_status rc = tamis__kind_require(tamis__shard.name, &entry);
    if (!rc) rc = tamis__shard_may_be(word[BLOCKS], i, shards);
    if (rc) return rc;
    *image = whole->image;
    image->entry = entry;
    image->body =
        (tamis_body){.kind = entry->kind, .word = {layout, word[DETAIL], word[BLOCKS], i, shards}};
    image->body.items = tamis__share(whole->image.body.items, i + 1, shards) -
                        tamis__share(whole->image.body.items, i, shards);
    return tamis__shard.check(image->body.word, &image->body.size);
}

/* Notes with this prefix are about one shard, and are dropped when it is joined. */
static const char about_one[] = "shard.";

static bool is_about_one(const char *name) {
    return strncmp(name, about_one, sizeof about_one - 1) == 0;
}

/* Notes are sorted by name, so these are contiguous. Removes them and returns the new size. */
static uint64_t drop_notes_of_one(char *notes, uint64_t size) {
    const char *name, *value;
    size_t at = 0, from = 0, start = 0;
    while (tamis__notes_next(notes, (size_t)size, &at, &name, &value) && !is_about_one(name))
        start = at;
    for (from = at = start;
         tamis__notes_next(notes, (size_t)size, &at, &name, &value) && is_about_one(name);)
        from = at;
    memmove(notes + start, notes + from, (size_t)size - from);
    return start + size - from;
}

/* A handle for an image that has no bytes yet; copies its notes. */
static tamis_status make_room(tamis **out, const tamis_image *image,
                              const struct tamis_options *options) {
    struct tamis_options o;
    tamis_status rc = tamis__read_options(options, &o);
    if (rc) return rc;
    const struct tamis_allocator allocator = tamis__allocator(&o);
    rc = tamis__new_with(out, image, &allocator, &o);
    if (rc || !image->notes_size || is_shard(*out)) return rc;
    (*out)->image.notes_size = drop_notes_of_one(tamis__aligned(&(*out)->notes), image->notes_size);
    return TAMIS_OK;
}

tamis_status tamis_shard_cut(tamis **shard, const tamis *whole, uint64_t i, uint64_t shards,
                             const struct tamis_options *options) {
    tamis_image image;
    *shard = NULL;
    tamis_status rc = shape_shard(whole, i, shards, &image);
    if (!rc) rc = make_room(shard, &image, options);
    if (!rc) {
        tamis_body *body = &(*shard)->image.body;
        const uint64_t from = tamis__shard_first(body->word) * tamis__shard_block_bytes(body->word);
        memcpy(body->bytes, whole->image.body.bytes + from, (size_t)body->size);
    }
    tamis__wipe(&image, sizeof image); /* it may hold the secret */
    return rc;
}

/* ---- Joining -------------------------------------------------------------------------------- */

/* The image of the whole that the first shard belongs to, without bytes or items. */
static tamis_status shape_whole(const tamis *first, tamis_image *image) {
    const uint64_t *word = first->image.body.word;
    if (!is_shard(first))
        return tamis__fail(TAMIS_MISMATCH, "the first of them is not a shard: its kind is %s",
                           first->kind->name);
    const tamis_kind *layout = tamis__shard_layout(word[TAMIS_SHARD_LAYOUT]);
    const tamis_entry *entry;
    const tamis_status rc = tamis__kind_require(layout->name, &entry);
    if (rc) return rc;
    *image = first->image;
    image->entry = entry;
    image->body =
        (tamis_body){.kind = layout, .word = {word[TAMIS_SHARD_TOTAL], word[TAMIS_SHARD_DETAIL]}};
    return layout->check(image->body.word, &image->body.size);
}

/* Shards of the same whole differ only in their number. */
static tamis_status is_of_whole(const tamis_image *first, const tamis *f) {
    const tamis_image *image = &f->image;
    const tamis_hasher *a = &first->hasher, *b = &image->hasher;
    if (!is_shard(f)) return tamis__fail(TAMIS_MISMATCH, "its kind is %s", f->kind->name);
    for (int i = 0; i < TAMIS_WORDS; i++)
        if (i != I && image->body.word[i] != first->body.word[i])
            return tamis__fail(TAMIS_MISMATCH, "%s differ: %llu and %llu in the first",
                               f->kind->word[i], (unsigned long long)image->body.word[i],
                               (unsigned long long)first->body.word[i]);
    if (image->capacity != first->capacity || image->one_in != first->one_in)
        return tamis__fail(TAMIS_MISMATCH, "it was planned for another capacity or rate");
    if (a->mode != b->mode || a->seed != b->seed || a->key_place != b->key_place ||
        memcmp(a->secret, b->secret, sizeof a->secret) != 0)
        return tamis__fail(TAMIS_MISMATCH, "its hash, seed or secret is another");
    return TAMIS_OK;
}

static tamis_status fits_at(const tamis_image *first, const tamis *f, uint64_t i) {
    char what[64];
    tamis_status rc = is_of_whole(first, f);
    if (!rc && f->image.body.word[I] != i)
        rc = tamis__fail(TAMIS_MISMATCH, "it is shard %llu",
                         (unsigned long long)f->image.body.word[I]);
    if (!rc) return TAMIS_OK;
    snprintf(what, sizeof what, "in the place of shard %llu of %llu", (unsigned long long)i,
             (unsigned long long)first->body.word[N]);
    return tamis__fail_in(rc, what);
}

tamis_status tamis_shard_join(tamis **whole, const tamis *const *shards, size_t n,
                              const struct tamis_options *options) {
    tamis_image image;
    tamis_status rc = TAMIS_OK;
    *whole = NULL;
    if (n == 0) return tamis__fail(TAMIS_INVALID, "there are no shards to join");
    rc = shape_whole(shards[0], &image);
    if (rc) return rc;
    if (n != shards[0]->image.body.word[N])
        rc = tamis__fail(TAMIS_MISMATCH, "there are %zu shards where the first is one of %llu", n,
                         (unsigned long long)shards[0]->image.body.word[N]);
    for (size_t i = 0; i < n && !rc; i++) rc = fits_at(&shards[0]->image, shards[i], i);
    if (!rc) rc = make_room(whole, &image, options);
    tamis__wipe(&image, sizeof image);
    if (rc) return rc;
    uint8_t *to = (*whole)->image.body.bytes;
    for (size_t i = 0; i < n; i++) {
        const tamis_body *body = &shards[i]->image.body;
        memcpy(to, body->bytes, (size_t)body->size);
        to += body->size;
        tamis__add_items(*whole, body->items);
        (*whole)->image.has_stray_bits |= shards[i]->image.has_stray_bits;
    }
    return TAMIS_OK;
}

/* ---- To a file ------------------------------------------------------------------------------ */

/* A whole being written: what the first shard gave, and what has been written. */
typedef struct joining {
    tamis_new_file file;
    tamis_sum sum;
    struct tamis_allocator allocator;
    tamis_image first, whole;
    tamis_block notes; /* of the first shard, which is gone when they are written */
} joining;

static tamis_status keep_first(joining *j, const tamis *f) {
    tamis_status rc = shape_whole(f, &j->whole);
    if (rc) return rc;
    j->first = f->image;
    j->allocator = f->allocator;
    if (f->image.notes_size == 0) return TAMIS_OK;
    char *notes = tamis__get(&j->allocator, f->image.notes_size, &j->notes);
    if (!notes) return TAMIS_NOMEM;
    memcpy(notes, f->image.notes, (size_t)f->image.notes_size);
    j->whole.notes = notes;
    j->whole.notes_size = drop_notes_of_one(notes, f->image.notes_size);
    return TAMIS_OK;
}

static tamis_status append(joining *j, const void *bytes, uint64_t size) {
    tamis__sum_more(&j->sum, bytes, (size_t)size);
    return tamis__file_append(&j->file, bytes, size);
}

static tamis_status append_shard(joining *j, const tamis *f, uint64_t i) {
    const tamis_body *body = &f->image.body;
    const tamis_status rc = fits_at(&j->first, f, i);
    if (rc) return rc;
    uint64_t *items = &j->whole.body.items;
    *items = *items > UINT64_MAX - body->items ? UINT64_MAX : *items + body->items;
    j->whole.has_stray_bits |= f->image.has_stray_bits;
    return append(j, body->bytes, body->size);
}

static tamis_status stopped_before(uint64_t i, uint64_t shards) {
    return tamis__fail(TAMIS_CANCELLED, "stopped before shard %llu of %llu", (unsigned long long)i,
                       (unsigned long long)shards);
}

/* The header comes first in the file and is known last. */
static tamis_status write_whole(joining *j, const tamis *f, tamis_next_shard *next, void *ctx) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES] = {0};
    const uint64_t shards = f->image.body.word[N];
    tamis__sum_start(&j->sum);
    tamis_status rc = tamis__file_append(&j->file, header, sizeof header);
    for (uint64_t i = 0; i < shards && !rc; i++) {
        if (i > 0) f = next(ctx, i);
        rc = f ? append_shard(j, f, i) : stopped_before(i, shards);
    }
    if (!rc) rc = append(j, j->whole.notes, j->whole.notes_size);
    if (!rc) rc = tamis__file_rewind(&j->file);
    if (rc) return rc;
    tamis__image_write_header(&j->whole, tamis__sum_end(&j->sum), header);
    rc = tamis__file_append(&j->file, header, sizeof header);
    tamis__wipe(header, sizeof header); /* it may hold the secret */
    return rc;
}

tamis_status tamis__join_at(tamis_goal goal, tamis_next_shard *next, void *ctx) {
    const int saved = errno;
    joining j = {.notes = {NULL, 0}};
    const tamis *first = next(ctx, 0); /* shows whether the file will hold a secret */
    tamis_status rc = first ? keep_first(&j, first) : stopped_before(0, 1);
    if (!rc) rc = tamis__file_begin(&j.file, goal, tamis__readers(&j.whole.hasher));
    if (!rc) {
        rc = write_whole(&j, first, next, ctx);
        if (!rc)
            rc = tamis__file_commit(&j.file);
        else
            tamis__file_abandon(&j.file);
    }
    if (j.notes.base) tamis__block_free(&j.allocator, &j.notes);
    tamis__wipe(&j, sizeof j);
    errno = saved;
    return rc;
}

tamis_status tamis_shard_join_to(const char *path, tamis_next_shard *next, void *ctx) {
    return tamis__join_at((tamis_goal){path, NULL}, next, ctx);
}
