/* SPDX-License-Identifier: MIT */
/* What a memory limit allows: how many threads may work, how large the segments of a filter are,
 * and what is refused. Everything is computed from the limit and the counts, never from the memory
 * that happens to be free: the segments of a filter are part of its bytes. */
#include "build/stages.h"
#include "kinds/segments.h"

uint64_t tamis__memory_left(const tamis_builder *b, uint64_t more) {
    const uint64_t held = tamis__builder_memory(b) + more;
    if (b->options.memory_limit == 0) return UINT64_MAX;
    return b->options.memory_limit > held ? b->options.memory_limit - held : 0;
}

void *tamis__work_room(const tamis_builder *b, uint64_t size, tamis_block *block) {
    const struct tamis_allocator *allocator = &b->filter->allocator;
    return b->options.memory_limit ? tamis__get(allocator, size, block)
                                   : tamis__get_for_work(allocator, size, block);
}

unsigned tamis__threads_for(const tamis_builder *b, uint64_t left, uint64_t each) {
    const unsigned wanted = b->options.threads ? b->options.threads : 1;
    return each == 0 || left / each >= wanted ? wanted : (unsigned)(left / each);
}

tamis_status tamis__too_little(const tamis_builder *b, const char *what) {
    return tamis__fail(TAMIS_NOMEM,
                       "a memory limit of %llu bytes is too small for %llu keys: "
                       "none is left for %s",
                       (unsigned long long)b->options.memory_limit, (unsigned long long)b->adds,
                       what);
}

/* ---- Segments -------------------------------------------------------------------------------- */

uint64_t tamis__record_bytes(const tamis_build *facet, uint64_t n) {
    return n * (facet->rule == TAMIS_RECORDS_KEYS ? 8 : 16);
}

/* Each block may start a little later than requested. */
uint64_t tamis__bench_bytes(const tamis_build *facet, const uint64_t word[], uint64_t n) {
    return tamis__record_bytes(facet, n) + facet->work(word, n) + facet->max(word, n) +
           3 * TAMIS_ALIGNMENT;
}

/* The first hash that is not in the first segment: all segments are about as wide, but the last may
 * be narrower. */
static uint64_t end_of_first(const tamis_build *facet, const uint64_t word[]) {
    uint64_t low = 0, high = UINT64_MAX;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (facet->segment(word, middle) == 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An eighth more than its share is far more than chance gives a segment of the usual size. */
uint64_t tamis__segment_records(const tamis_build *facet, const uint64_t word[], uint64_t total) {
    const uint64_t share = tamis__range(end_of_first(facet, word), total) + 1;
    const uint64_t max = share + share / 8 + 1024, planned = max < total ? max : total;
    return planned ? planned : 1;
}

/* The max memory of one thread that makes segments of `total` records under a limit, including all
 * that the builder then holds. */
static uint64_t need(const tamis_builder *b, uint64_t limit, const uint64_t word[],
                     uint64_t total) {
    const uint64_t held = tamis__builder_memory(b) -
                          (b->records ? tamis__records_memory(b->records) : 0) +
                          tamis__records_max_memory(limit);
    const uint64_t shared = TAMIS_RECORDS_ROOM + tamis__segment_offsets_size(word[TAMIS_SEGMENTS]);
    const tamis_build *facet = b->filter->kind->build;
    return held + shared + 2 * TAMIS_ALIGNMENT +
           tamis__bench_bytes(facet, word, tamis__segment_records(facet, word, total));
}

bool tamis__segments_fit(const tamis_builder *b, const uint64_t word[], uint64_t total) {
    const uint64_t limit = b->options.memory_limit;
    return limit == 0 || need(b, limit, word, total) <= limit;
}

uint64_t tamis__segment_asked(const tamis_builder *b) {
    return b->is_continued ? b->filter->image.body.word[TAMIS_SEGMENT_KEYS]
                           : tamis__segment_keys(&b->request.params);
}

uint64_t tamis__segment_next(uint64_t segment) {
    return segment / 2 > TAMIS_SEGMENT_MIN_KEYS ? segment / 2 : TAMIS_SEGMENT_MIN_KEYS;
}

/* ---- Refusing early ------------------------------------------------------------------------- */

/* The parameters before anything was counted. */
static tamis_status early_words(const tamis_builder *b, uint64_t segment, uint64_t total,
                                uint64_t word[TAMIS_WORDS]) {
    const tamis_census census = {.records = total, .keys = total};
    tamis_image image = b->filter->image;
    tamis_params params;
    tamis_status rc = TAMIS_OK;
    if (b->is_continued) {
        image.body.word[TAMIS_SEGMENT_KEYS] = segment;
        rc = b->filter->kind->build->fit(NULL, &census, image.body.word);
    } else {
        rc = tamis__shape_for(b, total, segment, &params, &image);
    }
    for (int i = 0; i < TAMIS_WORDS; i++) word[i] = image.body.word[i];
    return rc;
}

/* Is there a segment size with which `total` records can be built within `limit`? What no limit
 * would allow is not refused here: it has another message. */
static bool limit_allows(const tamis_builder *b, uint64_t limit, uint64_t total) {
    uint64_t segment = tamis__segment_asked(b), word[TAMIS_WORDS];
    if (early_words(b, segment, total, word)) return true;
    while (need(b, limit, word, total) > limit) {
        if (segment == TAMIS_SEGMENT_MIN_KEYS) return false;
        segment = tamis__segment_next(segment);
        if (early_words(b, segment, total, word)) return false;
    }
    return true;
}

static tamis_status refuse(const tamis_builder *b, uint64_t total) {
    const uint64_t step = (uint64_t)1 << 20;
    uint64_t min = b->options.memory_limit / step * step;
    do min += min / 16 / step * step + step;
    while (!limit_allows(b, min, total));
    return tamis__fail(TAMIS_NOMEM,
                       "a memory limit of %llu bytes is too small for %s of %llu keys: give at "
                       "least %lluM",
                       (unsigned long long)b->options.memory_limit, b->filter->kind->name,
                       (unsigned long long)total, (unsigned long long)(min / step));
}

/* The number of adds that was checked doubles as long as that is allowed, so that checks are rare;
 * near the end it grows in smaller steps, so that the refusal comes late enough. */
tamis_status tamis__limit_adds(tamis_builder *b, uint64_t adds) {
    enum { FIRST = 1 << 16 };
    const uint64_t limit = b->options.memory_limit;
    while (adds > b->max_adds) {
        const uint64_t now = b->max_adds ? b->max_adds : FIRST, ways[] = {now, now / 16};
        const bool is_far = limit_allows(b, limit, now + ways[0]);
        if (!is_far && !limit_allows(b, limit, now + ways[1])) return refuse(b, adds);
        b->max_adds = now + ways[!is_far];
    }
    return TAMIS_OK;
}

tamis_status tamis__limit_start(tamis_builder *b, uint64_t records) {
    const bool has_segments = b->filter->kind->build;
    b->max_adds = has_segments && b->options.memory_limit ? 0 : UINT64_MAX;
    if (b->max_adds || limit_allows(b, b->options.memory_limit, records ? records : 1))
        return TAMIS_OK;
    return refuse(b, records);
}

/* Names and their table double: while they do, they take three times their size, and later each
 * needs a number. They may have half of the limit. */
tamis_status tamis__limit_names(const tamis_builder *b) {
    const uint64_t limit = b->options.memory_limit, count = b->labels.count;
    const uint64_t first = 4096; /* what a name or two take */
    const uint64_t grown = 3 * tamis__names_memory(&b->labels) + count * sizeof(uint64_t) + first;
    if (limit == 0 || grown <= limit / 2) return TAMIS_OK;
    return tamis__fail(TAMIS_NOMEM,
                       "a memory limit of %llu bytes is too small for more than %llu labels: give "
                       "at least %lluM",
                       (unsigned long long)limit, (unsigned long long)count,
                       (unsigned long long)((4 * grown >> 20) + 1));
}
