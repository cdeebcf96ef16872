/* SPDX-License-Identifier: MIT */
/* sorted: an exact set of hashes that is built once; a sample of the building half of the
 * descriptor, and what to copy for a kind that is built. sorted_map is the same with a value for
 * each hash, sorted_sets with labels.
 *
 *     segment 0 │ segment 1 │ ... │ names of labels, if any │ offsets            kinds/segments.h
 *     └─ [ n | entry 0 | entry 1 | ... | entry n-1 ]                         ascending
 *              └─ 8 bytes: a hash; 16 with a value or a label behind it
 *
 *     hash ──range──▶ segment ──binary search──▶ entry
 *
 * The builder brings the records of a segment, sorted and distinct, so that making one is
 * copying. */
#include <string.h>

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/kind.h"
#include "kinds/segments.h"

/* Words behind those of every built kind, and options. */
enum { NUMBERS = TAMIS_SEGMENT_WORDS, LABELS, NAMES };
enum { OPT_SEGMENT };

static const struct tamis_option options[] = {TAMIS_SEGMENT_OPTION, {0}};

/* ---- Shape ---------------------------------------------------------------------------------- */

static uint64_t entry_size(const uint64_t word[]) {
    return word[NUMBERS] * 8;
}

/* Names, and where each starts, both in whole words. */
static uint64_t padded_names(const uint64_t word[]) {
    return (word[NAMES] + 7) / 8 * 8;
}

static uint64_t tail_size(const uint64_t word[]) {
    return padded_names(word) + (word[LABELS] + 1) / 2 * 8;
}

/* Words for so many entries, with the bytes that they take exactly. */
static tamis_status plan_with(const tamis_params *params, uint64_t numbers, uint64_t word[]) {
    word[TAMIS_SEGMENT_KEYS] = params->has_option[OPT_SEGMENT] ? params->option[OPT_SEGMENT] //
                                                               : TAMIS_SEGMENT_DEFAULT_KEYS;
    word[NUMBERS] = numbers;
    const uint64_t segments = word[TAMIS_SEGMENTS] = tamis__segments_for(word, params->capacity);
    if (params->capacity > TAMIS_MAX_PAYLOAD_BYTES / 32)
        return tamis__fail(TAMIS_TOO_LARGE, "sorted needs over 2^56 bytes");
    word[TAMIS_SEGMENT_BYTES] =
        params->capacity * entry_size(word) + segments * 8 + tamis__segment_offsets_size(segments);
    if (params->bits && params->bits / 8 < word[TAMIS_SEGMENT_BYTES])
        return tamis__fail(TAMIS_INVALID, "size must be %llu at least for so many keys",
                           (unsigned long long)word[TAMIS_SEGMENT_BYTES]);
    return TAMIS_OK;
}

static tamis_status plan(const tamis_params *params, uint64_t word[]) {
    return plan_with(params, 1, word);
}

static tamis_status plan_wide(const tamis_params *params, uint64_t word[]) {
    return plan_with(params, 2, word);
}

static tamis_status check_with(const uint64_t word[], uint64_t numbers, uint64_t *size) {
    if (word[NUMBERS] != numbers || word[NAMES] > TAMIS_MAX_PAYLOAD_BYTES / 2 ||
        word[LABELS] > word[NAMES])
        return tamis__fail(TAMIS_CORRUPT, "damaged: entries of %llu numbers, %llu bytes of names",
                           (unsigned long long)word[NUMBERS], (unsigned long long)word[NAMES]);
    return tamis__segments_check(word, tail_size(word), size);
}

static tamis_status check(const uint64_t word[], uint64_t *size) {
    return check_with(word, 1, size);
}

static tamis_status check_wide(const uint64_t word[], uint64_t *size) {
    return check_with(word, 2, size);
}

static uint64_t probes(const uint64_t word[]) {
    (void)word;
    return 1;
}

static double rate(const uint64_t word[], uint64_t items) {
    (void)word, (void)items;
    return 0;
}

static uint64_t max_value(const uint64_t word[]) {
    (void)word;
    return UINT64_MAX;
}

/* ---- Entries -------------------------------------------------------------------------------- */

typedef struct entries {
    const uint8_t *bytes;
    uint64_t n, size; /* how many, and bytes of each */
} entries;

static entries entries_of(const tamis_body *f, uint64_t segment) {
    uint64_t size;
    const uint8_t *bytes = tamis__segment(f, segment, &size);
    return (entries){bytes + 8, tamis__get64(bytes), entry_size(f->word)};
}

static uint64_t hash_at(entries e, uint64_t i) {
    return tamis__get64(e.bytes + i * e.size);
}

static uint64_t value_at(entries e, uint64_t i) {
    return tamis__get64(e.bytes + i * e.size + 8);
}

static uint64_t segment_of(const uint64_t word[], uint64_t hash) {
    return tamis__range(hash, word[TAMIS_SEGMENTS]);
}

/* The first entry that is not below the hash. */
static uint64_t find(entries e, uint64_t hash) {
    uint64_t low = 0, high = e.n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (hash_at(e, middle) < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- The gate ------------------------------------------------------------------------------- */

static bool is_after(const tamis_body *f, entries e, uint64_t i) {
    const uint64_t before = hash_at(e, i - 1), here = hash_at(e, i);
    if (before != here || f->word[LABELS] == 0) return before < here;
    return value_at(e, i - 1) < value_at(e, i);
}

static bool is_sound(const tamis_body *f, entries e, uint64_t segment) {
    for (uint64_t i = 0; i < e.n; i++) {
        if (segment_of(f->word, hash_at(e, i)) != segment) return false;
        if (i && !is_after(f, e, i)) return false;
        if (f->word[LABELS] && value_at(e, i) >= f->word[LABELS]) return false;
    }
    return true;
}

static const char *names_of(const tamis_body *f) {
    return (const char *)f->bytes + tamis__segment_start(f, f->word[TAMIS_SEGMENTS]);
}

/* As many names as labels, and zeros behind them. */
static bool names_are_sound(const tamis_body *f) {
    const char *names = names_of(f);
    uint64_t count = 0;
    for (uint64_t i = 0; i < f->word[NAMES]; i++) count += names[i] == '\0';
    for (uint64_t i = f->word[NAMES]; i < padded_names(f->word); i++)
        if (names[i]) return false;
    return count == f->word[LABELS] && (count == 0 || names[f->word[NAMES] - 1] == '\0') &&
           (count != 0 || f->word[NAMES] == 0);
}

static tamis_status audit(const tamis_body *f) {
    const tamis_status rc = tamis__segments_audit(f, tail_size(f->word), 8);
    if (rc) return rc;
    if (!names_are_sound(f)) return tamis__fail(TAMIS_CORRUPT, "damaged: names of labels");
    for (uint64_t s = 0; s < f->word[TAMIS_SEGMENTS]; s++) {
        uint64_t size;
        tamis__segment(f, s, &size);
        const entries e = entries_of(f, s);
        if (e.n != (size - 8) / e.size || (size - 8) % e.size || !is_sound(f, e, s))
            return tamis__fail(TAMIS_CORRUPT, "damaged: segment %llu is out of order",
                               (unsigned long long)s);
    }
    return TAMIS_OK;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static void query(const tamis_body *f, tamis_batch b, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) {
        const entries e = entries_of(f, segment_of(f->word, b.hash[j]));
        const uint64_t i = find(e, b.hash[j]);
        hit[j] = i < e.n && hash_at(e, i) == b.hash[j];
    }
}

static void get(const tamis_body *f, tamis_batch b, uint64_t *value, uint8_t *hit) {
    for (size_t j = 0; j < b.n; j++) {
        const entries e = entries_of(f, segment_of(f->word, b.hash[j]));
        const uint64_t i = find(e, b.hash[j]);
        hit[j] = i < e.n && hash_at(e, i) == b.hash[j];
        if (hit[j]) value[j] = value_at(e, i);
    }
}

static size_t find_labels(const tamis_body *f, uint64_t hash, uint64_t *label, size_t room) {
    const entries e = entries_of(f, segment_of(f->word, hash));
    size_t count = 0;
    for (uint64_t i = find(e, hash); i < e.n && hash_at(e, i) == hash; i++, count++)
        if (count < room) label[count] = value_at(e, i);
    return count;
}

static uint64_t label_count(const tamis_body *f) {
    return f->word[LABELS];
}

static const char *label_name(const tamis_body *f, uint64_t label) {
    const char *name = names_of(f);
    while (label--) name += strlen(name) + 1;
    return name;
}

/* The cursor is the segment, and in its lower half the entry. */
static bool next(const tamis_body *f, uint64_t *cursor, uint64_t *hash, uint64_t *count) {
    enum { HALF = 32 };
    uint64_t segment = *cursor >> HALF, i = *cursor & UINT32_MAX;
    for (; segment < f->word[TAMIS_SEGMENTS]; segment++, i = 0) {
        const entries e = entries_of(f, segment);
        if (i >= e.n) continue;
        *hash = hash_at(e, i);
        *count = f->word[LABELS] ? value_at(e, i) : 1;
        *cursor = segment << HALF | (i + 1);
        return true;
    }
    return false;
}

static void measure(const tamis_body *f, const tamis_body *other, tamis_measurement *out) {
    uint64_t used = 0, cursor = 0, hash, count, last = 0;
    while (next(f, &cursor, &hash, &count)) {
        used += used == 0 || hash != last; /* a hash with many labels is one key */
        last = hash;
    }
    const uint64_t own = used;
    for (cursor = 0; other && next(other, &cursor, &hash, &count);) {
        uint8_t hit;
        query(f, tamis__hashes(&hash, 1), &hit);
        used += !hit && (used == own || hash != last);
        last = hash;
    }
    *out =
        (tamis_measurement){.bits_set = used * 64, .bits = f->size * 8, .items = {(double)used, 0}};
}

/* ---- Building ------------------------------------------------------------------------------- */

static tamis_status fit(const tamis_params *params, const tamis_census *census, uint64_t word[]) {
    (void)params;
    word[TAMIS_SEGMENTS] = tamis__segments_for(word, census->records);
    word[LABELS] = census->labels;
    word[NAMES] = census->names;
    return TAMIS_OK;
}

static uint64_t work(const uint64_t word[], uint64_t n) {
    (void)word, (void)n;
    return 0;
}

static uint64_t max(const uint64_t word[], uint64_t n) {
    return 8 + n * entry_size(word);
}

static tamis_status make(const uint64_t word[], const tamis_segment *segment, uint8_t *room,
                         uint8_t *out, uint64_t *size) {
    (void)room;
    tamis__put64(out, segment->n);
    for (size_t i = 0; i < segment->n; i++) {
        uint8_t *entry = out + 8 + i * entry_size(word);
        tamis__put64(entry, segment->hash[i]);
        if (word[NUMBERS] == 2) tamis__put64(entry + 8, segment->value[i]);
    }
    *size = max(word, segment->n);
    return TAMIS_OK;
}

/* ---- Descriptors ---------------------------------------------------------------------------- */

#define SORTED_BUILD                                                                       \
    .cut = TAMIS_SEGMENT_CUT, .fit = fit, .segment = segment_of, .work = work, .max = max, \
    .make = make
#define SORTED                                                                         \
    .options = options, .traits = TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER, .probes = probes, \
    .rate = rate, .audit = audit, .measure = measure, .query = query

static const tamis_build building = {SORTED_BUILD, .rule = TAMIS_RECORDS_KEYS,
                                     .made = TAMIS_SEGMENT_MADE};
const tamis_kind tamis__sorted = {
    SORTED,
    .name = "sorted",
    .contract = "a sample: exact, and built once",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers"},
    .plan = plan,
    .check = check,
    .next = next,
    .build = &building,
};

static const tamis_build map_building = {SORTED_BUILD, .rule = TAMIS_RECORDS_VALUES,
                                         .made = TAMIS_SEGMENT_MADE};
const tamis_kind tamis__sorted_map = {
    SORTED,
    .name = "sorted_map",
    .contract = "a sample: exact, built once, a value for each key",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers"},
    .plan = plan_wide,
    .check = check_wide,
    .values = &(const tamis_values){.get = get, .max_value = max_value},
    .build = &map_building,
};

static const tamis_build sets_building = {SORTED_BUILD, .rule = TAMIS_RECORDS_LABELS,
                                          .made = TAMIS_SEGMENT_MADE | 1 << LABELS | 1 << NAMES};
static const tamis_label_facet labels = {find_labels, label_count, label_name};
const tamis_kind tamis__sorted_sets = {
    SORTED,
    .name = "sorted_sets",
    .contract = "a sample: exact, built once, labels for each key",
    .word = {TAMIS_SEGMENT_WORD_NAMES, "numbers", "labels", "names"},
    .plan = plan_wide,
    .check = check_wide,
    .next = next,
    .build = &sets_building,
    .special = &(const tamis_special){.labels = &labels},
};
