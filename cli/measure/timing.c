/* SPDX-License-Identifier: MIT */
/* timing.c: how long building and asking take here and now.
 *
 * Times are medians over many short rounds, because other programs run too. Numbers come in random
 * order; keys of a file in theirs, which for a filter is as random. */
#include "cli/measure/timing.h"

#include "cli/files/files.h"
#include "cli/measure/numbers.h"

#include <math.h>
#include <stdlib.h>

enum { LIST = 4096, LISTS = 4, ROUNDS = 51 };

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *list, size_t n) {
    qsort(list, n, sizeof *list, by_size);
    return list[n / 2];
}

/* ---- Asking ---- */

/* What a round asks about: keys of a sample or, where that is NULL, numbers. */
struct questions {
    const tamis *filter;
    const struct sample *sample;
    uint64_t members; /* that are inside; 0 when it is not known what is */
    struct tamis_key key[LIST * LISTS];
    uint64_t number[LIST * LISTS];
};

static void choose(struct questions *q, bool is_inside, uint64_t salt) {
    const uint64_t first = is_inside ? 0 : FIRST_NONMEMBER;
    const uint64_t range = is_inside || q->sample ? q->members : FIRST_NONMEMBER;
    for (size_t i = 0; i < LIST * LISTS; i++) {
        const uint64_t any = number_at(salt + i) % range;
        if (q->sample)
            q->key[i] = (is_inside ? q->sample->members : q->sample->nonmembers)[any];
        else
            q->number[i] = number_at(first + any);
    }
}

static double ask_lists(const struct questions *q) {
    uint8_t hit[LIST];
    const double start = now_ns();
    for (size_t i = 0; i < LIST * LISTS; i += LIST)
        if (q->sample)
            tamis_has_many(q->filter, q->key + i, LIST, hit);
        else
            tamis_has_u64s(q->filter, q->number + i, LIST, hit);
    return (now_ns() - start) / (LIST * LISTS);
}

static volatile unsigned seen; /* so that answers are not for nothing */

static double ask_numbers_singly(const tamis *filter, const uint64_t *numbers) {
    unsigned yes = 0;
    const double start = now_ns();
    for (size_t i = 0; i < LIST; i++) yes += tamis_has_u64(filter, numbers[i]);
    const double ns = now_ns() - start;
    seen = yes;
    return ns / LIST;
}

static double ask_keys_singly(const tamis *filter, const struct tamis_key *keys) {
    unsigned yes = 0;
    const double start = now_ns();
    for (size_t i = 0; i < LIST; i++) yes += tamis_has(filter, keys[i].bytes, keys[i].len);
    const double ns = now_ns() - start;
    seen = yes;
    return ns / LIST;
}

static void ask_rounds(const tamis *filter, const struct sample *sample, uint64_t members,
                       struct measured *measured) {
    double hit_ns[ROUNDS], miss_ns[ROUNDS], one_ns[ROUNDS];
    struct questions *q = malloc(sizeof *q);
    if (!q) return;
    q->filter = filter;
    q->sample = sample;
    q->members = members;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        choose(q, false, round * LIST * LISTS);
        miss_ns[round] = ask_lists(q);
        one_ns[round] =
            sample ? ask_keys_singly(filter, q->key) : ask_numbers_singly(filter, q->number);
        if (members == 0) continue;
        choose(q, true, round * LIST * LISTS);
        hit_ns[round] = ask_lists(q);
    }
    measured->miss = median(miss_ns, ROUNDS);
    measured->one = median(one_ns, ROUNDS);
    if (members > 0) measured->hit = median(hit_ns, ROUNDS);
    free(q);
}

static const struct measured nothing = {
    .build = (double)NAN, .hit = (double)NAN, .miss = (double)NAN, .one = (double)NAN};

void measure_nonmembers(const tamis *filter, struct measured *measured) {
    *measured = nothing;
    ask_rounds(filter, NULL, 0, measured);
}

void measure_sample(const tamis *filter, const struct sample *sample, struct measured *measured) {
    *measured = nothing;
    measured->keys = sample->n;
    if (sample->n > 0) ask_rounds(filter, sample, sample->n, measured);
}

/* ---- Building ---- */

tamis_status measure_params(const char *spec, uint64_t keys, const struct tamis_options *options,
                            struct measured *measured) {
    tamis *filter = NULL;
    *measured = nothing;
    const double start = now_ns();
    const tamis_status status = numbers_build(spec, 0, keys, options, &filter);
    measured->build = keys > 0 ? (now_ns() - start) / (double)keys : (double)NAN;
    measured->keys = keys;
    if (!status) ask_rounds(filter, NULL, keys, measured);
    tamis_free(filter);
    return status;
}

tamis_status measure_build(const char *spec, const struct sample *sample,
                           const struct tamis_options *options, tamis **filter, double *ns) {
    tamis_builder *builder = NULL;
    const double start = now_ns();
    tamis_status status = numbers_builder(&builder, spec, options);
    if (!status) status = tamis_builder_add_many(builder, sample->members, sample->n);
    if (!status) status = tamis_builder_finish(builder, filter);
    *ns = sample->n > 0 ? (now_ns() - start) / (double)sample->n : (double)NAN;
    tamis_builder_free(builder);
    return status;
}

/* ---- The floor ---- */

double measure_line(uint64_t bytes) {
    enum { LINE = 64, AHEAD = 64 };
    const uint64_t wanted = bytes / LINE + 1, max = UINT32_MAX;
    const uint64_t lines = wanted < max ? wanted : max;
    unsigned char *memory = lines <= SIZE_MAX / LINE ? calloc((size_t)lines, LINE) : NULL;
    double ns[ROUNDS];
    if (!memory) return 0;
    for (uint64_t i = 0; i < lines; i++) memory[i * LINE] = 1; /* Every page is there. */
    for (uint64_t round = 0; round < ROUNDS; round++) {
        unsigned sum = 0;
        const unsigned char *line[AHEAD];
        const double start = now_ns();
        for (uint64_t i = 0; i < LIST * LISTS; i += AHEAD) {
            for (uint64_t j = 0; j < AHEAD; j++) {
                /* 32 bits times 32 bits: a division would take longer than the memory. */
                const uint64_t any = number_at(round << 32 | (i + j)) >> 32;
                line[j] = memory + (any * lines >> 32) * LINE;
                __builtin_prefetch(line[j], 0, 2);
            }
            for (size_t j = 0; j < AHEAD; j++) sum += *line[j];
        }
        ns[round] = (now_ns() - start) / (LIST * LISTS);
        seen = sum;
    }
    free(memory);
    return median(ns, ROUNDS);
}
