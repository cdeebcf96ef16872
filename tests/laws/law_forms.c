/* SPDX-License-Identifier: MIT */
/* Laws about the forms of one call: in whatever form keys come, counts, values and what is built of
 * them are the same. (batch_equals_single says so of queries and adds.) */
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tests/laws/laws.h"
#include "tests/support/keys.h"

enum { N = 2500, WIDTH = 8 }; /* more than two batches, and half of them strangers */

static uint64_t numbers[N];
static uint8_t packed[N][WIDTH];
static struct tamis_key strings[N];
static uint64_t hashes[N];

static void make_keys(const tamis *f) {
    for (uint64_t i = 0; i < N; i++) {
        numbers[i] = test_number(5, i);
        for (unsigned b = 0; b < WIDTH; b++) packed[i][b] = (uint8_t)(numbers[i] >> 8 * b);
        strings[i] = (struct tamis_key){packed[i], WIDTH};
    }
    tamis_hash_many(f, strings, N, hashes);
}

static tamis *with_numbers(const subject *s) {
    intake in = open_intake(s, N, 0.01, NULL);
    for (uint64_t i = 0; i < N / 2; i++) {
        const uint64_t number = test_number(5, i);
        uint8_t bytes[WIDTH];
        for (unsigned b = 0; b < WIDTH; b++) bytes[b] = (uint8_t)(number >> 8 * b);
        if (take_in(&in, bytes, WIDTH)) break;
    }
    return taken(&in);
}

static const char *every_form_counts_alike(const subject *s) {
    static uint64_t one[N], many[N];
    const char *what = NULL;
    tamis *f = with_numbers(s);
    make_keys(f);
    for (size_t i = 0; i < N; i++) one[i] = tamis_count(f, packed[i], WIDTH);
    for (int form = 0; form < 5 && !what; form++) {
        memset(many, 0xff, sizeof many);
        if (form == 0) tamis_count_many(f, strings, N, many);
        if (form == 1) tamis_count_u64s(f, numbers, N, many);
        if (form == 2) tamis_count_packed(f, packed, WIDTH, N, many);
        if (form == 3)
            for (size_t i = 0; i < N; i++) many[i] = tamis_count_u64(f, numbers[i]);
        if (form == 4 && s->can & TAMIS_OWN_HASH) break;
        if (form == 4) tamis_count_hashes(f, hashes, N, many);
        if (memcmp(one, many, sizeof one) != 0) what = wrong("form %d counts otherwise", form);
    }
    tamis_free(f);
    return what;
}

static const char *every_form_gets_alike(const subject *s) {
    static uint64_t one[N], many[N];
    static uint8_t hit[N], hits[N];
    const char *what = NULL;
    tamis *f = with_numbers(s);
    make_keys(f);
    memset(one, 0, sizeof one);
    for (size_t i = 0; i < N; i++) hit[i] = tamis_get(f, packed[i], WIDTH, &one[i]);
    for (int form = 0; form < 5 && !what; form++) {
        memset(many, 0, sizeof many);
        if (form == 0) tamis_get_many(f, strings, N, many, hits);
        if (form == 1) tamis_get_u64s(f, numbers, N, many, hits);
        if (form == 2) tamis_get_packed(f, packed, WIDTH, N, many, hits);
        if (form == 3) tamis_get_hashes(f, hashes, N, many, hits);
        for (size_t i = 0; i < N && form == 4; i++)
            hits[i] = tamis_get_u64(f, numbers[i], &many[i]);
        for (size_t i = 0; i < N && !what; i++)
            if (hit[i] != hits[i] || (hit[i] && one[i] != many[i]))
                what = wrong("form %d gets otherwise for key %zu", form, i);
    }
    tamis_free(f);
    return what;
}

/* Values of a builder: each form makes the same bytes, and a value that does not fit takes none. */
static tamis_status put_by(tamis_builder *b, int form, const uint64_t *values) {
    tamis_status rc = TAMIS_OK;
    switch (form) {
    case 0: return tamis_builder_put_many(b, strings, values, N);
    case 1: return tamis_builder_put_u64s(b, numbers, values, N);
    case 2: return tamis_builder_put_packed(b, packed, WIDTH, values, N);
    case 3: return tamis_builder_put_hashes(b, hashes, values, N);
    default:
        for (size_t i = 0; i < N && !rc; i++) rc = tamis_builder_put_u64(b, numbers[i], values[i]);
        return rc;
    }
}

static tamis *built_by(const subject *s, int form, const uint64_t *values, uint64_t too_large) {
    static uint64_t bad[N];
    intake in = open_builder(s, spec_of(s, N, 0.01, NULL), NULL);
    memcpy(bad, values, sizeof bad);
    bad[N - 1] = too_large;
    tamis *f = NULL;
    if (form < 4 && too_large && put_by(in.builder, form, bad) != TAMIS_INVALID) goto done;
    if (put_by(in.builder, form, values) || tamis_builder_finish(in.builder, &f)) f = NULL;
done:
    tamis_builder_free(in.builder);
    return f;
}

static const char *every_form_builds_alike(const subject *s) {
    static uint64_t values[N];
    const char *what = NULL;
    tamis *model = with_numbers(s);
    const uint64_t max = max_value_of(model);
    make_keys(model);
    tamis_free(model);
    for (size_t i = 0; i < N; i++) values[i] = value_of(hashes[i], max);
    tamis *first = built_by(s, 4, values, 0);
    if (!first) return wrong("one by one: %s", tamis_why());
    for (int form = 0; form < 4 && !what; form++) {
        tamis *f = built_by(s, form, values, max < UINT64_MAX ? max + 1 : 0);
        if (!f)
            what = wrong("form %d: %s", form, tamis_why());
        else if (!same_payload(first, f))
            what = wrong("form %d makes other bytes", form);
        tamis_free(f);
    }
    tamis_free(first);
    return what;
}

const law form_laws[] = {
    {"every_form_counts_alike", 0, every_form_counts_alike, TAMIS_IS_SKETCH},
    {"every_form_gets_alike", TAMIS_CAN_GET, every_form_gets_alike, 0},
    {"every_form_builds_alike", TAMIS_CAN_GET, every_form_builds_alike, 0},
    {NULL, 0, NULL, 0},
};
