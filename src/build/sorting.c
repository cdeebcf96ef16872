/* SPDX-License-Identifier: MIT */
/* The first stage of finishing: sorts partitions of records, each on one thread. */
#include "build/stages.h"
#include "core/workers.h"

tamis_status tamis__report(const tamis_builder *b, enum tamis_stage stage, uint64_t done,
                           uint64_t total) {
    const struct tamis_builder_options *o = &b->options;
    if (!o->progress || o->progress(o->progress_ctx, stage, done, total))
        return tamis__stopped(b->filter);
    return tamis__fail(TAMIS_CANCELLED, "building was stopped");
}

typedef struct sorting {
    tamis_workers workers;
    tamis_builder *b;
    unsigned next;
    uint64_t scratch; /* bytes per thread: what the largest partition needs, or what is left */
    uint64_t done, total;
    tamis_census census;
    _Atomic uint64_t *label_counts;
    tamis_record_conflict conflict;
    bool has_conflict;
} sorting;

static void add_up(tamis_census *sum, const tamis_census *more) {
    sum->records += more->records;
    sum->keys += more->keys;
    sum->zeros += more->zeros;
    if (more->max > sum->max) sum->max = more->max;
}

/* Threads may find conflicts in any order. Partitions are started in order, so the lowest conflict
 * found is the lowest there is: the report is always the same. */
static void note_conflict(sorting *s, const tamis_record_conflict *c) {
    if (s->has_conflict && s->conflict.hash < c->hash) return;
    s->conflict = *c;
    s->has_conflict = true;
}

/* One partition; with the lock held before and after. */
static tamis_status sort_one(sorting *s, unsigned p, uint64_t *scratch) {
    tamis_records *records = s->b->records;
    const uint64_t n = tamis__records_in(records, p);
    tamis_record_conflict conflict;
    tamis_census census = {0};

    pthread_mutex_unlock(&s->workers.lock);
    const tamis_status rc =
        tamis__records_sort(records, p, scratch, s->scratch, &census, s->label_counts, &conflict);
    pthread_mutex_lock(&s->workers.lock);

    if (rc == TAMIS_CONFLICT) note_conflict(s, &conflict);
    if (rc) return rc;
    add_up(&s->census, &census);
    s->done += n;
    return n ? tamis__report(s->b, TAMIS_STAGE_SORT, s->done, s->total) : TAMIS_OK;
}

static void sort_some(void *ctx) {
    sorting *s = ctx;
    const struct tamis_allocator *allocator = &s->b->filter->allocator;
    tamis_block block;
    pthread_mutex_lock(&s->workers.lock);
    uint64_t *scratch = tamis__work_room(s->b, s->scratch, &block);
    if (!scratch) tamis__workers_fail(&s->workers, TAMIS_NOMEM);
    while (s->next < TAMIS_PARTITIONS && !s->workers.rc) {
        const tamis_status rc = sort_one(s, s->next++, scratch);
        if (rc) tamis__workers_fail(&s->workers, rc);
    }
    tamis__block_free(allocator, &block);
    pthread_mutex_unlock(&s->workers.lock);
}

static tamis_status sort_all(sorting *s) {
    tamis_builder *b = s->b;
    for (unsigned p = 0; p < TAMIS_PARTITIONS; p++) {
        const uint64_t scratch = tamis__records_scratch(b->records, p);
        if (scratch > s->scratch) s->scratch = scratch;
    }
    /* Where memory is too small for the largest partition, one thread has all of it. */
    const uint64_t counts = b->labels.count * sizeof *s->label_counts + TAMIS_ALIGNMENT;
    const uint64_t left = tamis__memory_left(b, counts);
    unsigned threads = tamis__threads_for(b, left, s->scratch + TAMIS_ALIGNMENT);
    if (threads == 0) {
        if (left <= TAMIS_ALIGNMENT) return tamis__too_little(b, "sorting them");
        s->scratch = left - TAMIS_ALIGNMENT;
        threads = 1;
    }
    tamis_status rc = tamis__report(b, TAMIS_STAGE_SORT, 0, s->total);
    if (!rc) rc = tamis__workers_run(&s->workers, threads, sort_some, s);
    if (rc != TAMIS_CONFLICT) return rc;
    b->conflict = s->conflict.hash;
    return tamis__fail(TAMIS_CONFLICT, "the key with hash %016llx has the values %llu and %llu",
                       (unsigned long long)s->conflict.hash,
                       (unsigned long long)s->conflict.value[0],
                       (unsigned long long)s->conflict.value[1]);
}

static tamis_status sort_and_count(tamis_builder *b) {
    const struct tamis_allocator *allocator = &b->filter->allocator;
    const uint64_t labels = b->labels.count;
    sorting s = {.b = b, .total = tamis__records_count(b->records)};
    tamis_block block = {0};
    if (labels) {
        s.label_counts = tamis__get(allocator, labels * sizeof *s.label_counts, &block);
        if (!s.label_counts) return TAMIS_NOMEM;
    }
    const tamis_status rc = sort_all(&s);
    for (uint64_t i = 0; i < labels; i++)
        if (s.label_counts[i] > s.census.largest)
            s.census.largest = s.label_counts[i], s.census.leader = i;
    tamis__block_free(allocator, &block);
    if (rc) return rc;
    s.census.labels = labels;
    s.census.names = b->labels.size;
    b->census = s.census;
    b->is_sorted = true;
    return TAMIS_OK;
}

tamis_status tamis__sort_records(tamis_builder *b) {
    if (!b->is_sorted) return sort_and_count(b);
    const tamis_status rc = tamis__report(b, TAMIS_STAGE_SORT, 0, b->census.records);
    return rc ? rc : tamis__report(b, TAMIS_STAGE_SORT, b->census.records, b->census.records);
}
