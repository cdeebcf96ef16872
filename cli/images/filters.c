/* SPDX-License-Identifier: MIT */
/* filters.c: several filters are asked about a batch.
 *
 * They are asked one after the other about all lines of a batch, so that each is in the cache while
 * it is asked. Those that hash alike share the hashes; for each other way to hash, the keys are
 * hashed once more. Who has a line is a bit for each filter and line, in batch->more:
 *
 *     answers of the one asked now, a byte for each line │ bits of the first │ of the next ...
 */
#include "cli/images/filters.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "tamis_engine.h"

/* ---- Who hashes alike ---- */

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Those that hash their own way come last. */
static int compare_hashing(const struct member *a, const struct member *b) {
    if (!a->hash || !b->hash) return (a->hash == NULL) - (b->hash == NULL);
    int code = strcmp(a->hash, b->hash);
    if (!code) code = compare_numbers(a->seed, b->seed);
    return code ? code : compare_numbers(a->key_id, b->key_id);
}

struct place {
    const struct member *member;
    size_t at;
};

static int compare_places(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    const int code = compare_hashing(a->member, b->member);
    return code ? code : compare_numbers(a->at, b->at);
}

bool filters_sort(struct filters *filters) {
    const size_t n = filters->n;
    struct place *place = calloc(n, sizeof *place);
    filters->order = calloc(n, sizeof *filters->order);
    const bool has_room = place && filters->order;
    for (size_t j = 0; has_room && j < n; j++)
        place[j] = (struct place){.member = &filters->member[j], .at = j};
    if (has_room) qsort(place, n, sizeof *place, compare_places);
    for (size_t j = 0; has_room && j < n; j++) filters->order[j] = place[j].at;
    free(place);
    return has_room;
}

static const struct member *first_of(const struct filters *filters) {
    return &filters->member[filters->order[0]];
}

void filters_hash(struct filters *filters, struct keys *keys) {
    keys_hash_by(keys, first_of(filters)->image.filter);
    keys->several.use = ASKS_FOR_SEVERAL;
    const enum reach reach = canon_reach(&keys->cutting.form.canon);
    for (size_t j = 0; reach && j < filters->n; j++)
        filters->member[j].classes = classes_in(filters->member[j].image.filter, reach);
}

/* ---- Asking ---- */

static size_t row_bytes(const struct batch *batch) {
    return (batch->n + 7) / 8;
}

static uint8_t *row_of(const struct batch *batch, size_t member) {
    return batch->more + batch->n + member * row_bytes(batch);
}

/* The hashes that this one wants, which come after those of `before`; NULL: it takes keys. */
static const uint64_t *hashes_for(const struct filters *filters, const struct member *member,
                                  const struct member *before, const uint64_t *hash,
                                  struct batch *batch) {
    if (before && compare_hashing(before, member) == 0) return hash;
    if (!member->hash) return NULL;
    if (compare_hashing(first_of(filters), member) == 0) return batch->hash;
    batch_hash(member->image.filter, batch, batch->value);
    return batch->value;
}

static void note_answers(const struct filters *filters, struct batch *batch, size_t member) {
    const uint8_t *hit = batch->more;
    for (size_t i = 0; i < batch->n; i++) batch->hit[i] |= hit[i];
    if (!filters->tells_which) return;
    uint8_t *row = row_of(batch, member);
    memset(row, 0, row_bytes(batch));
    for (size_t i = 0; i < batch->n; i++) row[i / 8] |= (uint8_t)((hit[i] != 0) << i % 8);
}

static void ask_all(const struct filters *filters, struct batch *batch) {
    const uint64_t *hash = NULL;
    const struct member *before = NULL;
    const size_t rows = filters->tells_which ? filters->n : 0;
    memset(batch->hit, 0, batch->n);
    if (!list_grow(&batch->more, &batch->more_room, batch->n + rows * row_bytes(batch), 1)) {
        batch->out.is_short_of_memory = true;
        return;
    }
    for (size_t j = 0; j < filters->n; j++) {
        const struct member *member = &filters->member[filters->order[j]];
        if (batch->match && batch->keys->several.reach) { /* as batch_has */
            batch_has_several(member->image.filter, &member->classes, batch, batch->more);
        } else {
            hash = hashes_for(filters, member, before, hash, batch);
            batch_has_by(member->image.filter, batch, hash, batch->more);
        }
        note_answers(filters, batch, filters->order[j]);
        before = member;
    }
}

void filters_ask(const struct filters *filters, struct batch *batch) {
    if (filters->n == 1)
        batch_has(filters->member[0].image.filter, batch);
    else
        ask_all(filters, batch);
}

/* ---- Which of them ---- */

bool filters_have_labels(const struct filters *filters) {
    for (size_t j = 0; j < filters->n; j++)
        if (tamis_label_count(filters->member[j].image.filter) > 0) return true;
    return false;
}

static bool has_line(const struct filters *filters, const struct batch *batch, size_t member,
                     size_t i) {
    if (filters->n == 1 || !batch->hit[i]) return batch->hit[i];
    return row_of(batch, member)[i / 8] >> i % 8 & 1;
}

static uint64_t hash_of(const struct filters *filters, const struct member *member,
                        const struct batch *batch, size_t i) {
    uint64_t hash;
    if (compare_hashing(first_of(filters), member) == 0) return batch->hash[i];
    if (batch->n > 1)
        return tamis_hash(member->image.filter, batch->key[i].bytes, batch->key[i].len);
    batch_hash(member->image.filter, batch, &hash); /* which may be a long one */
    return hash;
}

struct finding {
    struct filters *filters;
    const tamis *filter;
    bool is_short_of_memory;
};

/* The labels of a key after those that were found. */
static void find_labels(void *with, uint64_t hash) {
    struct finding *finding = with;
    struct filters *filters = finding->filters;
    const size_t n = tamis_labels_hash(finding->filter, hash, NULL, 0);
    if (n == 0) return;
    finding->is_short_of_memory |= !list_grow(&filters->found, &filters->found_room,
                                              filters->found_n + n, sizeof *filters->found);
    if (finding->is_short_of_memory) return;
    tamis_labels_hash(finding->filter, hash, filters->found + filters->found_n, n);
    filters->found_n += n;
}

static int compare_labels(const void *a, const void *b) {
    return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Those of all keys that the line asks for, each once. False when memory is out. */
static bool labels_of_line(struct filters *filters, const struct member *member,
                           const struct batch *batch, size_t i) {
    struct finding finding = {.filters = filters, .filter = member->image.filter};
    size_t kept = 0;
    filters->found_n = 0;
    if (!batch->match) {
        find_labels(&finding, hash_of(filters, member, batch, i));
        return !finding.is_short_of_memory;
    }
    each_answer(finding.filter, &member->classes, batch, i, find_labels, &finding);
    uint64_t *found = filters->found;
    if (filters->found_n > 0) qsort(found, filters->found_n, sizeof *found, compare_labels);
    for (size_t k = 0; k < filters->found_n; k++)
        if (k == 0 || found[k] != found[kept - 1]) found[kept++] = found[k];
    filters->found_n = kept;
    return !finding.is_short_of_memory;
}

static bool tell_labels(struct filters *filters, struct member *member, take_set *take,
                        void *with) {
    const tamis *filter = member->image.filter;
    const char *name = filters->n > 1 ? member->name : NULL;
    if (!member->label)
        member->label = calloc((size_t)tamis_label_count(filter), sizeof *member->label);
    if (!member->label) return false;
    for (size_t k = 0; k < filters->found_n; k++) {
        const uint64_t label = filters->found[k];
        if (!member->label[label]) member->label[label] = tamis_label_name(filter, label);
        take(with, name, member->label[label]);
    }
    return true;
}

bool filters_tell(struct filters *filters, const struct batch *batch, size_t i, take_set *take,
                  void *with) {
    for (size_t j = 0; j < filters->n; j++) {
        struct member *member = &filters->member[j];
        if (!has_line(filters, batch, j, i)) continue;
        if (tamis_label_count(member->image.filter) == 0)
            take(with, member->name, NULL);
        else if (!labels_of_line(filters, member, batch, i) ||
                 !tell_labels(filters, member, take, with))
            return false;
    }
    return true;
}
