/* Building, the second half: from records to a filter.
 *
 *     sort      partitions, on all threads; equal records go, and everything is counted
 *     shape     the kind says what words so many records lead to
 *     shards    records are read in order and cut; each thread makes the shard it got
 *     out       shards are written in order, then the tail and the offsets: to disk or to memory
 *     verify    every record is asked again
 *
 * Which thread makes a shard, and what lay on disk before, leaves no trace in the bytes. */
#include <errno.h>
#include <string.h>

#include "bits/bits.h"
#include "core/builder.h"
#include "core/crew.h"
#include "file/disk.h"
#include "file/replace.h"
#include "kinds/shards.h"

/* Told about now and then: often enough to stop soon, rarely enough to cost nothing. */
enum { REPORT_EVERY = 1 << 16 };

static tamis_status report(const tamis_builder *b, enum tamis_stage stage, uint64_t done,
                           uint64_t total) {
    const struct tamis_builder_options *o = &b->options;
    if (!o->progress || o->progress(o->progress_ctx, stage, done, total)) return TAMIS_OK;
    return tamis__fail(TAMIS_CANCELLED, "building was stopped");
}

/* How many threads may work when each needs so much memory; 0 with a sentence when none may. */
static unsigned threads_for(const tamis_builder *b, uint64_t each) {
    const uint64_t limit = b->options.memory_limit, held = tamis__records_memory(b->records);
    const unsigned wanted = b->options.threads ? b->options.threads : 1;
    if (!limit || each == 0) return wanted;
    const uint64_t fit = limit > held ? (limit - held) / each : 0;
    if (fit == 0)
        tamis__fail(TAMIS_NOMEM,
                    "a memory limit of %llu bytes is too small: records hold %llu, and a step "
                    "of the work needs %llu",
                    (unsigned long long)limit, (unsigned long long)held, (unsigned long long)each);
    return fit < wanted ? (unsigned)fit : wanted;
}

/* ---- Sorting -------------------------------------------------------------------------------- */

typedef struct sorting {
    tamis_crew crew;
    tamis_builder *b;
    unsigned next;
    uint64_t done, total;
    tamis_census census;
    _Atomic uint64_t *label_counts;
} sorting;

/* One partition; with the lock held before and after. */
static tamis_status sort_one(sorting *s, unsigned p) {
    const struct tamis_allocator *allocator = &s->b->filter->allocator;
    tamis_records *records = s->b->records;
    tamis_block block;
    uint64_t conflict;
    tamis_census census = {0};
    uint64_t *scratch = tamis__get(allocator, tamis__records_scratch(records, p), &block);
    if (!scratch) return TAMIS_NOMEM;

    pthread_mutex_unlock(&s->crew.lock);
    tamis_status rc = tamis__records_sort(records, p, scratch, &census, s->label_counts, &conflict);
    pthread_mutex_lock(&s->crew.lock);

    if (rc == TAMIS_CONFLICT) s->b->conflict = conflict;
    s->census.records += census.records;
    s->census.keys += census.keys;
    s->census.zeros += census.zeros;
    if (census.most > s->census.most) s->census.most = census.most;
    s->done += census.records;
    tamis__give_back(allocator, &block);
    return rc ? rc : report(s->b, TAMIS_STAGE_SORT, s->done, s->total);
}

static void sort_some(void *ctx) {
    sorting *s = ctx;
    pthread_mutex_lock(&s->crew.lock);
    while (s->next < TAMIS_PARTITIONS && !s->crew.rc) {
        const tamis_status rc = sort_one(s, s->next++);
        if (rc) tamis__crew_fail(&s->crew, rc);
    }
    pthread_mutex_unlock(&s->crew.lock);
}

static tamis_status sort_records(tamis_builder *b, tamis_census *census) {
    const struct tamis_allocator *allocator = &b->filter->allocator;
    const bool has_labels = b->filter->kind->labels;
    sorting s = {.b = b, .total = tamis__records_count(b->records)};
    tamis_block block = {0};
    uint64_t most = 0;
    for (unsigned p = 0; p < TAMIS_PARTITIONS; p++) {
        const uint64_t scratch = tamis__records_scratch(b->records, p);
        if (scratch > most) most = scratch;
    }
    const unsigned threads = threads_for(b, most);
    if (threads == 0) return TAMIS_NOMEM;
    if (has_labels) {
        s.label_counts = tamis__get(allocator, b->label_count * sizeof *s.label_counts, &block);
        if (!s.label_counts) return TAMIS_NOMEM;
    }
    const tamis_status rc = tamis__crew_run(&s.crew, threads, sort_some, &s);
    for (uint64_t i = 0; has_labels && i < b->label_count; i++)
        if (s.label_counts[i] > s.census.largest)
            s.census.largest = s.label_counts[i], s.census.leader = i;
    tamis__give_back(allocator, &block);
    if (rc) return rc;
    tamis__records_close(b->records);
    s.census.labels = b->label_count;
    s.census.names = b->names_size;
    *census = s.census;
    return TAMIS_OK;
}

/* ---- Where shards go ------------------------------------------------------------------------ */

/* A shard that waits in memory for the others. */
typedef struct piece {
    struct piece *next;
    tamis_block block;
    uint64_t size;
    uint8_t *bytes;
} piece;

typedef struct sink {
    tamis_new_file *file; /* NULL: pieces */
    piece *first, **last;
    tamis_sum sum;
    uint64_t size;
    const struct tamis_allocator *allocator;
} sink;

static tamis_status sink_append(sink *s, const void *bytes, uint64_t size) {
    s->size += size;
    if (s->file) {
        tamis__sum_more(&s->sum, bytes, (size_t)size);
        return tamis__file_append(s->file, bytes, size);
    }
    tamis_block block;
    piece *p = tamis__get(s->allocator, sizeof *p + size, &block);
    if (!p) return TAMIS_NOMEM;
    *p = (piece){.block = block, .size = size, .bytes = (uint8_t *)(p + 1)};
    memcpy(p->bytes, bytes, (size_t)size);
    *s->last = p;
    s->last = &p->next;
    return TAMIS_OK;
}

static void sink_free(sink *s) {
    for (piece *p = s->first; p;) {
        piece *next = p->next;
        tamis_block block = p->block;
        tamis__give_back(s->allocator, &block);
        p = next;
    }
}

/* ---- Shards --------------------------------------------------------------------------------- */

typedef struct building {
    tamis_crew crew;
    tamis_builder *b;
    const uint64_t *word;
    tamis_record_cursor cursor;
    uint64_t *room; /* for a block that is read from disk */
    uint64_t next, written, records_done, total;
    uint64_t *offset; /* where each shard starts */
    sink *sink;
} building;

/* What one thread holds: the records of its shard, and room to make it. */
typedef struct bench {
    uint64_t *hash, *value;
    size_t n, room;
    tamis_block records, work, out;
} bench;

static void clear_bench(const struct tamis_allocator *allocator, bench *k) {
    tamis__give_back(allocator, &k->records);
    tamis__give_back(allocator, &k->work);
    tamis__give_back(allocator, &k->out);
}

/* Room for `need` records at least; those that are there stay. */
static tamis_status widen(const building *g, bench *k, size_t need) {
    const struct tamis_allocator *allocator = &g->b->filter->allocator;
    const bool has_values = g->b->filter->kind->build->rule != TAMIS_RECORDS_KEYS;
    tamis_block block;
    uint64_t *hash = tamis__get(allocator, (uint64_t)need * (has_values ? 16 : 8), &block);
    if (!hash) return TAMIS_NOMEM;
    uint64_t *value = has_values ? hash + need : NULL;
    if (k->n) memcpy(hash, k->hash, k->n * sizeof *hash);
    if (k->n && has_values) memcpy(value, k->value, k->n * sizeof *value);
    tamis__give_back(allocator, &k->records);
    k->records = block;
    k->hash = hash;
    k->value = value;
    k->room = need;
    return TAMIS_OK;
}

/* Reads the records of the next shard. */
static tamis_status cut_shard(building *g, bench *k, uint64_t index) {
    const tamis_build_facet *facet = g->b->filter->kind->build;
    uint64_t hash, value;
    tamis_status rc;
    k->n = 0;
    while (tamis__records_peek(g->b->records, &g->cursor, g->room, &hash, &value, &rc) &&
           facet->shard(g->word, hash) == index) {
        if (k->n == k->room) {
            rc = widen(g, k, k->room + k->room / 4 + 1024);
            if (rc) return rc;
        }
        k->hash[k->n] = hash;
        if (k->value) k->value[k->n] = value;
        k->n++;
        tamis__records_skip(&g->cursor);
    }
    return rc;
}

/* What the last shard used serves again when it is large enough. */
static tamis_status enough(const struct tamis_allocator *allocator, tamis_block *block,
                           uint64_t size) {
    if (block->base && block->size - TAMIS_ALIGNMENT >= size) return TAMIS_OK;
    tamis__give_back(allocator, block);
    return tamis__get(allocator, size, block) ? TAMIS_OK : TAMIS_NOMEM;
}

static tamis_status prepare(const building *g, bench *k) {
    const tamis_build_facet *facet = g->b->filter->kind->build;
    const struct tamis_allocator *allocator = &g->b->filter->allocator;
    const tamis_status rc = enough(allocator, &k->work, facet->work(g->word, k->n));
    return rc ? rc : enough(allocator, &k->out, facet->most(g->word, k->n));
}

/* Shards leave in their order; whoever is early waits. */
static tamis_status deliver(building *g, const bench *k, uint64_t index, const uint8_t *out,
                            uint64_t size) {
    while (g->written != index && !g->crew.rc) pthread_cond_wait(&g->crew.turn, &g->crew.lock);
    if (g->crew.rc) return g->crew.rc;
    g->offset[index] = g->sink->size;
    tamis_status rc = sink_append(g->sink, out, size);
    g->written++;
    g->records_done += k->n;
    return rc ? rc : report(g->b, TAMIS_STAGE_BUILD, g->records_done, g->total);
}

static tamis_status make_one(building *g, bench *k, uint64_t index) {
    const tamis_build_facet *facet = g->b->filter->kind->build;
    tamis_status rc = cut_shard(g, k, index);
    if (!rc) rc = prepare(g, k);
    if (rc) return rc;
    uint8_t *work = tamis__aligned(&k->work), *out = tamis__aligned(&k->out);
    const tamis_shard shard = {k->hash, k->value, k->n, index};
    uint64_t size = 0;

    pthread_mutex_unlock(&g->crew.lock);
    rc = facet->make(g->word, &shard, work, out, &size);
    pthread_mutex_lock(&g->crew.lock);

    return rc ? rc : deliver(g, k, index, out, size);
}

static void make_some(void *ctx) {
    building *g = ctx;
    bench k = {0};
    pthread_mutex_lock(&g->crew.lock);
    while (g->next < g->word[TAMIS_SHARDS] && !g->crew.rc) {
        const tamis_status rc = make_one(g, &k, g->next++);
        if (rc) tamis__crew_fail(&g->crew, rc);
        pthread_cond_broadcast(&g->crew.turn);
    }
    clear_bench(&g->b->filter->allocator, &k);
    pthread_mutex_unlock(&g->crew.lock);
}

/* The tail, for labels: their names, then where each starts as 32 bits, and zeros to whole words
 * behind both. */
static tamis_status append_tail(const tamis_builder *b, sink *s) {
    static const uint8_t zeros[8];
    uint8_t starts[1024];
    size_t n = 0, at = 0;
    if (b->names_size == 0) return TAMIS_OK;
    tamis_status rc = sink_append(s, b->names, b->names_size);
    if (!rc) rc = sink_append(s, zeros, (8 - b->names_size % 8) % 8);
    for (uint64_t i = 0; i < b->label_count && !rc; i++) {
        tamis__put32(starts + n, (uint32_t)at);
        at += strlen(b->names + at) + 1;
        n += 4;
        if (n == sizeof starts || i + 1 == b->label_count) rc = sink_append(s, starts, n), n = 0;
    }
    return rc ? rc : sink_append(s, zeros, b->label_count % 2 * 4);
}

static uint64_t memory_for_shard(const tamis_builder *b, const uint64_t word[], uint64_t records) {
    const tamis_build_facet *facet = b->filter->kind->build;
    const uint64_t n = records / word[TAMIS_SHARDS] + records / word[TAMIS_SHARDS] / 8 + 1024;
    const uint64_t each = facet->rule == TAMIS_RECORDS_KEYS ? 8 : 16;
    return n * each + facet->work(word, n) + facet->most(word, n);
}

/* Writes the payload for these words; word[TAMIS_SHARD_BYTES] becomes its size. */
static tamis_status make_payload(tamis_builder *b, uint64_t word[], uint64_t records, sink *s) {
    const struct tamis_allocator *allocator = &b->filter->allocator;
    const uint64_t shards = word[TAMIS_SHARDS];
    building g = {.b = b, .word = word, .total = records, .sink = s};
    tamis_block room, offsets;
    const unsigned threads = threads_for(b, memory_for_shard(b, word, records));
    if (threads == 0) return TAMIS_NOMEM;
    g.room = tamis__get(allocator, tamis__records_block_size(b->records), &room);
    g.offset = g.room ? tamis__get(allocator, tamis__shard_offsets_size(shards), &offsets) : NULL;
    tamis_status rc = TAMIS_NOMEM;
    if (!g.offset) goto done;
    rc = tamis__crew_run(&g.crew, threads, make_some, &g);
    if (rc) goto done;
    g.offset[shards] = s->size;
    rc = append_tail(b, s);
    for (uint64_t i = 0; i <= shards; i++) tamis__put64((uint8_t *)&g.offset[i], g.offset[i]);
    if (!rc) rc = sink_append(s, g.offset, tamis__shard_offsets_size(shards));
    word[TAMIS_SHARD_BYTES] = s->size;

done:
    if (g.room) tamis__give_back(allocator, &room);
    if (g.offset) tamis__give_back(allocator, &offsets);
    return rc;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

/* What a capacity is about. Known-good keys come beside it; where values are joined a key may have
 * come with many, and still takes one place. */
static uint64_t keys_counted(const tamis_kind *kind, const tamis_census *census) {
    if (kind->labels) return census->largest;
    if (kind->build && kind->build->member) return census->records - census->zeros;
    return kind->put ? census->keys : census->records;
}

/* The image for what was counted, without bytes yet. */
static tamis_status shape_image(const tamis_builder *b, const tamis_census *census,
                                tamis_image *image) {
    const tamis_kind *kind = b->filter->kind;
    const uint64_t count = keys_counted(kind, census);
    tamis_request r = b->request;
    tamis_status rc = TAMIS_OK;
    *image = b->filter->image;
    if (!b->is_continued) {
        tamis_shape shape;
        if (!r.has_capacity || (kind->build && r.wish.capacity < count)) r.wish.capacity = count;
        r.has_capacity = true;
        rc = tamis__request_plan(&r, &shape);
        if (rc) return rc;
        tamis__take_shape(image, &shape);
    }
    if (kind->build) {
        rc = kind->build->fit(b->is_continued ? NULL : &r.wish, census, image->body.word);
        image->body.items = census->records;
    }
    return rc;
}

/* ---- Verifying ------------------------------------------------------------------------------ */

static bool answers(const tamis *f, uint64_t hash, uint64_t value) {
    const tamis_kind *kind = f->kind;
    const tamis_body *body = &f->image.body;
    uint64_t got = 0;
    uint8_t hit = 0;
    if (kind->labels) {
        uint64_t label[64];
        const size_t n = kind->labels->find(body, hash, label, 64);
        for (size_t i = 0; i < n && i < 64; i++)
            if (label[i] == value) return true;
        return n > 64; /* more than fit here; the first of them were looked at */
    }
    if (kind->get) {
        kind->get(body, &hash, 1, &got, &hit);
        if (kind->build) return hit && got == value;
        return value == 0 || (hit && got >= value); /* no join is less than what it joins */
    }
    kind->query(body, &hash, 1, &hit);
    return hit == !(kind->build && kind->build->member && value == 0);
}

static tamis_status verify(tamis_builder *b, const tamis *f) {
    const uint64_t total = tamis__records_count(b->records);
    tamis_record_cursor cursor = {0};
    tamis_block block;
    uint64_t hash, value, done = 0;
    uint64_t *room = tamis__get(&f->allocator, tamis__records_block_size(b->records), &block);
    if (!room) return TAMIS_NOMEM;
    tamis_status rc;
    while (tamis__records_peek(b->records, &cursor, room, &hash, &value, &rc)) {
        if (!answers(f, hash, value)) {
            rc = tamis__fail(TAMIS_CORRUPT,
                             "the filter that was built does not answer for hash %016llx: is the "
                             "memory of this machine sound?",
                             (unsigned long long)hash);
            break;
        }
        tamis__records_skip(&cursor);
        if (++done % REPORT_EVERY == 0) rc = report(b, TAMIS_STAGE_VERIFY, done, total);
        if (rc) break;
    }
    tamis__give_back(&f->allocator, &block);
    return rc;
}

/* ---- Kinds that take adds ------------------------------------------------------------------- */

/* Adds the records, in their order, to a filter that is empty. */
static tamis_status fill(tamis_builder *b, tamis *f) {
    tamis_record_cursor cursor = {0};
    tamis_block block;
    uint64_t hashes[TAMIS_BATCH], value, done = 0;
    size_t n = 0;
    uint64_t *room = tamis__get(&f->allocator, tamis__records_block_size(b->records), &block);
    if (!room) return TAMIS_NOMEM;
    tamis_status rc;
    while (tamis__records_peek(b->records, &cursor, room, &hashes[n], &value, &rc)) {
        tamis__records_skip(&cursor);
        if (f->kind->put)
            rc = tamis_put_hash(f, hashes[n], value);
        else if (++n == TAMIS_BATCH)
            rc = tamis_add_hashes(f, hashes, n), n = 0;
        if (!rc && ++done % REPORT_EVERY == 0)
            rc = report(b, TAMIS_STAGE_BUILD, done, tamis__records_count(b->records));
        if (rc) break;
    }
    if (!rc && n) rc = tamis_add_hashes(f, hashes, n);
    tamis__give_back(&f->allocator, &block);
    /* Equal records were dropped where they do nothing; items counts adds all the same. */
    if (!rc) f->image.body.items = b->adds;
    return rc;
}

/* ---- Handing over --------------------------------------------------------------------------- */

static tamis_status sort_and_shape(tamis_builder *b, tamis_image *image) {
    tamis_census census;
    tamis_status rc = sort_records(b, &census);
    if (!rc) rc = shape_image(b, &census, image);
    return rc;
}

/* A handle with room for the image's payload, and its notes. */
static tamis_status new_filter(const tamis_builder *b, const tamis_image *image, tamis **out) {
    const struct tamis_options limit = {.max_bytes = b->max_bytes};
    tamis_status rc = tamis__within_limit(&limit, image->body.size);
    if (rc) return rc;
    tamis *f = tamis__new(&b->filter->allocator);
    if (!f) return TAMIS_NOMEM;
    char *notes;
    f->kind = b->filter->kind;
    f->image = *image;
    rc = tamis__own(f, &notes);
    if (rc) {
        tamis_free(f);
        return rc;
    }
    if (notes) memcpy(notes, b->filter->image.notes, (size_t)image->notes_size);
    *out = f;
    return TAMIS_OK;
}

static tamis_status build_in_memory(tamis_builder *b, tamis_image *image, tamis **out) {
    sink s = {.last = &s.first, .allocator = &b->filter->allocator};
    tamis_status rc = make_payload(b, image->body.word, image->body.items, &s);
    if (!rc) rc = b->filter->kind->check(image->body.word, &image->body.size);
    if (!rc) rc = new_filter(b, image, out);
    uint8_t *to = rc ? NULL : (*out)->image.body.bytes;
    for (const piece *p = s.first; p && !rc; p = p->next) {
        memcpy(to, p->bytes, (size_t)p->size);
        to += p->size;
    }
    sink_free(&s);
    return rc;
}

tamis_status tamis__assemble(tamis_builder *b, tamis **filter) {
    tamis *f = b->filter;
    if (b->records) {
        tamis_image image;
        f = NULL;
        tamis_status rc = sort_and_shape(b, &image);
        if (!rc && b->filter->kind->build)
            rc = build_in_memory(b, &image, &f);
        else if (!rc)
            rc = new_filter(b, &image, &f);
        if (!rc && !b->filter->kind->build) rc = fill(b, f);
        if (!rc && b->options.verify) rc = verify(b, f);
        if (rc) {
            tamis_free(f);
            return rc;
        }
    } else {
        b->filter = tamis__new(&f->allocator); /* what is left of the builder can still be freed */
        if (!b->filter) {
            b->filter = f;
            return TAMIS_NOMEM;
        }
        b->filter->kind = f->kind;
    }
    b->is_done = true;
    *filter = f;
    return TAMIS_OK;
}

/* Asks the file that was just written, before it gets its name. */
static tamis_status verify_file(tamis_builder *b, const tamis_image *image,
                                const tamis_new_file *file) {
    const uint64_t size = TAMIS_IMAGE_HEADER_BYTES + image->body.size + image->notes_size;
    tamis view = {.kind = b->filter->kind, .image = *image, .allocator = b->filter->allocator};
    void *map;
    tamis_status rc = tamis__disk_map(file->fd, file->path, size, &map);
    if (rc) return rc;
    view.image.body.bytes = (uint8_t *)map + TAMIS_IMAGE_HEADER_BYTES;
    rc = verify(b, &view);
    tamis__disk_unmap(map, (size_t)size);
    return rc;
}

/* The header comes first in the file and is known last. */
static tamis_status write_image(tamis_builder *b, tamis_image *image, tamis_new_file *file) {
    uint8_t header[TAMIS_IMAGE_HEADER_BYTES] = {0};
    sink s = {.file = file, .allocator = &b->filter->allocator};
    const struct tamis_options limit = {.max_bytes = b->max_bytes};
    tamis_status rc = tamis__file_append(file, header, sizeof header);
    tamis__sum_start(&s.sum);
    if (!rc) rc = make_payload(b, image->body.word, image->body.items, &s);
    if (!rc) rc = b->filter->kind->check(image->body.word, &image->body.size);
    if (!rc) rc = tamis__within_limit(&limit, image->body.size);
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

static tamis_status build_to(tamis_builder *b, const char *path) {
    tamis_image image;
    tamis_new_file file;
    tamis_status rc = sort_and_shape(b, &image);
    if (!rc) rc = tamis__file_begin(&file, path);
    if (rc) return rc;
    rc = write_image(b, &image, &file);
    if (!rc) return tamis__file_commit(&file);
    tamis__file_abandon(&file);
    return rc;
}

tamis_status tamis__assemble_to(tamis_builder *b, const char *path) {
    const int saved = errno;
    tamis_status rc;
    tamis__file_tidy(path);
    if (b->filter->kind->build) {
        rc = build_to(b, path);
    } else if (!b->records) {
        rc = tamis_save(b->filter, path);
    } else {
        tamis *f;
        rc = tamis__assemble(b, &f);
        if (rc) return errno = saved, rc;
        rc = tamis_save(f, path);
        b->is_done = false;
        tamis_free(f);
    }
    errno = saved;
    return rc;
}
