/* SPDX-License-Identifier: MIT */
/* The second stage of finishing, for kinds that are built: reads records in order and cuts them
 * into segments; each thread makes one segment at a time, and they are written in order. The bytes
 * do not show which thread made a segment, or what was on disk before. */
#include <string.h>

#include "bits/bits.h"
#include "build/stages.h"
#include "core/workers.h"
#include "kinds/segments.h"

typedef struct building {
    tamis_workers workers;
    tamis_builder *b;
    const tamis_build *facet;
    const uint64_t *word;
    tamis_record_cursor cursor;
    uint64_t *room; /* for records read from disk */
    uint64_t next, written, records_done, total;
    uint64_t planned;     /* a segment hardly ever has more records */
    uint64_t memory_each; /* allowed for each thread */
    uint64_t *offset;     /* the start of each segment */
    tamis_sink *sink;
} building;

/* ---- Room to work --------------------------------------------------------------------------- */

/* The memory of one thread: the records of its segment, and room to make it. */
typedef struct bench {
    uint64_t *hash, *value;
    uint64_t n, room;
    tamis_block records, work, out;
} bench;

static void clear_bench(const struct tamis_allocator *allocator, bench *k) {
    tamis__block_free(allocator, &k->records);
    tamis__block_free(allocator, &k->work);
    tamis__block_free(allocator, &k->out);
}

static uint64_t record_bytes(const building *g, uint64_t n) {
    return tamis__record_bytes(g->facet, n);
}

/* Makes room for `need` records, and keeps those that are there. */
static tamis_status widen(const building *g, bench *k, uint64_t need) {
    const struct tamis_allocator *allocator = &g->b->filter->allocator;
    const bool has_values = g->facet->rule != TAMIS_RECORDS_KEYS;
    tamis_block block;
    uint64_t *hash = tamis__work_room(g->b, record_bytes(g, need), &block);
    if (!hash) return TAMIS_NOMEM;
    uint64_t *value = has_values ? hash + need : NULL;
    if (k->n) memcpy(hash, k->hash, (size_t)k->n * sizeof *hash);
    if (k->n && has_values) memcpy(value, k->value, (size_t)k->n * sizeof *value);
    tamis__block_free(allocator, &k->records);
    k->records = block;
    k->hash = hash;
    k->value = value;
    k->room = need;
    return TAMIS_OK;
}

/* A segment with more records than expected: only badly mixed hashes make one, and it may not
 * exceed the memory limit. While it grows it is held twice. */
static tamis_status widen_beyond_plan(const building *g, bench *k, uint64_t index, uint64_t more) {
    const uint64_t min = k->n + more, usual = k->room + k->room / 4 + 1024;
    const uint64_t need = min > usual ? min : usual;
    if (tamis__bench_bytes(g->facet, g->word, need) + record_bytes(g, k->room) > g->memory_each)
        return tamis__fail(TAMIS_NOMEM,
                           "segment %llu has over %llu records where %llu were to be expected, too "
                           "many for the memory limit: are the hashes well mixed?",
                           (unsigned long long)index, (unsigned long long)k->n,
                           (unsigned long long)(g->total / g->word[TAMIS_SEGMENTS]));
    return widen(g, k, need);
}

/* Reuses the last segment's memory when it is large enough. */
static tamis_status enough(const building *g, tamis_block *block, uint64_t size) {
    if (block->base && block->size - TAMIS_ALIGNMENT >= size) return TAMIS_OK;
    tamis__block_free(&g->b->filter->allocator, block);
    return tamis__work_room(g->b, size, block) ? TAMIS_OK : TAMIS_NOMEM;
}

static tamis_status prepare(const building *g, bench *k) {
    const tamis_status rc = enough(g, &k->work, g->facet->work(g->word, k->n));
    return rc ? rc : enough(g, &k->out, g->facet->max(g->word, k->n));
}

/* ---- One segment at a time ------------------------------------------------------------------- */

static uint64_t segment_of(const building *g, uint64_t i) {
    return g->facet->segment(g->word, tamis__records_hash(g->b->records, &g->cursor, i));
}

/* How many of the n records at hand belong to the segment. */
static uint64_t count_ready(const building *g, uint64_t n, uint64_t index) {
    uint64_t low = 0, high = n;
    if (n == 0 || segment_of(g, 0) != index) return 0;
    while (low < high) {
        /* The last record first: usually all of them do. */
        const uint64_t i = high == n ? n - 1 : low + (high - low) / 2;
        if (segment_of(g, i) <= index)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* Reads the records of the next segment. */
static tamis_status cut_segment(building *g, bench *k, uint64_t index) {
    tamis_records *records = g->b->records;
    tamis_status rc = k->room ? TAMIS_OK : widen(g, k, g->planned);
    k->n = 0;
    while (!rc) {
        uint64_t n = tamis__records_look(records, &g->cursor, g->room, &rc);
        if (!rc) n = count_ready(g, n, index);
        if (rc || n == 0) break;
        if (k->n + n > k->room) rc = widen_beyond_plan(g, k, index, n);
        if (rc) break;
        tamis__records_take(records, &g->cursor, n, k->hash + k->n,
                            k->value ? k->value + k->n : NULL);
        k->n += n;
    }
    return rc;
}

/* Segments are written in order; a thread that is early waits. */
static tamis_status deliver(building *g, const bench *k, uint64_t index, const uint8_t *out,
                            uint64_t size) {
    while (g->written != index && !g->workers.rc)
        pthread_cond_wait(&g->workers.turn, &g->workers.lock);
    if (g->workers.rc) return g->workers.rc;
    g->offset[index] = g->sink->size;
    const tamis_status rc = g->sink->append(g->sink, out, size);
    if (rc) return rc;
    g->written++;
    g->records_done += k->n;
    return tamis__report(g->b, TAMIS_STAGE_BUILD, g->records_done, g->total);
}

/* Asked while a segment is made. The sentence is that of the thread that is the first to stop. */
static bool must_stop(void *ctx) {
    building *g = ctx;
    pthread_mutex_lock(&g->workers.lock);
    const bool is_over = g->workers.rc || tamis__stopped(g->b->filter);
    pthread_mutex_unlock(&g->workers.lock);
    return is_over;
}

/* With the lock held before and after. Only the making itself runs without it: the allocator and
 * the records are for one thread at a time. */
static tamis_status make_one(building *g, bench *k, uint64_t index) {
    tamis_status rc = cut_segment(g, k, index);
    if (!rc) rc = prepare(g, k);
    if (rc) return rc;
    uint8_t *work = tamis__aligned(&k->work), *out = tamis__aligned(&k->out);
    const tamis_segment segment = {k->hash, k->value, (size_t)k->n, index, {must_stop, g}};
    uint64_t size = 0;

    pthread_mutex_unlock(&g->workers.lock);
    rc = g->facet->make(g->word, &segment, work, out, &size);
    pthread_mutex_lock(&g->workers.lock);

    return rc ? rc : deliver(g, k, index, out, size);
}

static void make_some(void *ctx) {
    building *g = ctx;
    bench k = {0};
    pthread_mutex_lock(&g->workers.lock);
    while (g->next < g->word[TAMIS_SEGMENTS] && !g->workers.rc) {
        const tamis_status rc = make_one(g, &k, g->next++);
        if (rc) tamis__workers_fail(&g->workers, rc);
        pthread_cond_broadcast(&g->workers.turn);
    }
    clear_bench(&g->b->filter->allocator, &k);
    pthread_mutex_unlock(&g->workers.lock);
}

/* ---- All segments --------------------------------------------------------------------------- */

/* The number of threads, and the memory of each. */
static unsigned share_memory(building *g, uint64_t held) {
    g->planned = tamis__segment_records(g->facet, g->word, g->total);
    const uint64_t left = tamis__memory_left(g->b, held);
    const unsigned threads =
        tamis__threads_for(g->b, left, tamis__bench_bytes(g->facet, g->word, g->planned));
    g->memory_each = threads && left != UINT64_MAX ? left / threads : left;
    return threads;
}

static tamis_status run_workers(building *g, uint64_t held) {
    const unsigned threads = share_memory(g, held);
    if (threads == 0) return tamis__too_little(g->b, "making segments of them");
    tamis_status rc = tamis__report(g->b, TAMIS_STAGE_BUILD, 0, g->total);
    if (!rc) rc = tamis__workers_run(&g->workers, threads, make_some, g);
    /* Every record belongs to a segment, or keys would go missing unnoticed. */
    if (!rc && g->records_done != g->total)
        rc = tamis__fail(TAMIS_CORRUPT, "only %llu of %llu records came into a segment",
                         (unsigned long long)g->records_done, (unsigned long long)g->total);
    return rc;
}

/* The tail, for labels: their names, then the offset of each as 32 bits, both padded with zeros to
 * whole words. */
static tamis_status append_tail(const tamis_names *labels, tamis_sink *s) {
    static const uint8_t zeros[8];
    uint8_t starts[1024];
    size_t n = 0, at = 0;
    if (labels->size == 0) return TAMIS_OK;
    tamis_status rc = s->append(s, labels->text, labels->size);
    if (!rc && labels->size % 8) rc = s->append(s, zeros, 8 - labels->size % 8);
    for (uint64_t i = 0; i < labels->count && !rc; i++) {
        tamis__put32(starts + n, (uint32_t)at);
        at += strlen(labels->text + at) + 1;
        n += 4;
        if (n == sizeof starts || i + 1 == labels->count) rc = s->append(s, starts, n), n = 0;
    }
    return rc || labels->count % 2 == 0 ? rc : s->append(s, zeros, 4);
}

/* Writes what follows the segments. */
static tamis_status append_rest(building *g) {
    const uint64_t segments = g->word[TAMIS_SEGMENTS];
    tamis_sink *s = g->sink;
    g->offset[segments] = s->size;
    const tamis_status rc = append_tail(&g->b->labels, s);
    for (uint64_t i = 0; i <= segments; i++) tamis__put64((uint8_t *)&g->offset[i], g->offset[i]);
    return rc ? rc : s->append(s, g->offset, tamis__segment_offsets_size(segments));
}

tamis_status tamis__make_payload(tamis_builder *b, uint64_t word[], tamis_sink *s) {
    const struct tamis_allocator *allocator = &b->filter->allocator;
    const uint64_t offsets_size = tamis__segment_offsets_size(word[TAMIS_SEGMENTS]);
    const uint64_t room_size = TAMIS_RECORDS_ROOM;
    building g = {.b = b, .facet = b->filter->kind->build, .word = word, .sink = s};
    tamis_block room, offsets = {0};
    tamis_status rc = TAMIS_NOMEM;
    g.total = b->census.records;
    g.room = tamis__get(allocator, room_size, &room);
    if (g.room) g.offset = tamis__get(allocator, offsets_size, &offsets);
    if (g.offset) rc = run_workers(&g, room_size + offsets_size + 2 * TAMIS_ALIGNMENT);
    if (!rc) rc = append_rest(&g);
    if (!rc) word[TAMIS_SEGMENT_BYTES] = s->size;
    tamis__block_free(allocator, &offsets);
    tamis__block_free(allocator, &room);
    return rc;
}
