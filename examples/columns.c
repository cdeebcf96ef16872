/* SPDX-License-Identifier: MIT */
/* columns.c: a database works on columns, thousands of keys at a time. The batch forms take them as
 * they are: integers, digests of one width, or a list of strings. */
#include <string.h>
#include <tamis_engine.h>

#include "must.h"

enum { ROWS = 10000, WIDTH = 16 };
static uint64_t ids[ROWS], values[ROWS], hashes[ROWS], counts[ROWS], found[ROWS];
static uint8_t digests[ROWS][WIDTH], hit[ROWS];
static struct tamis_key list[ROWS];

static void fill_columns(void) {
    for (uint64_t i = 0; i < ROWS; i++) {
        ids[i] = i * 7919;
        values[i] = i % 200;
        memcpy(digests[i], &ids[i], sizeof ids[i]);
        list[i] = (struct tamis_key){digests[i], WIDTH};
    }
}

static size_t hits(void) {
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) n += hit[i];
    return n;
}

static bool is_all(const uint64_t *numbers, uint64_t value) {
    for (size_t i = 0; i < ROWS; i++)
        if (numbers[i] != value) return false;
    return true;
}

/* How often? A sketch counts a column in one call. */
static void count_columns(void) {
    tamis *sketch;
    must(tamis_create(&sketch, "counting:capacity=20K,fpr=1e-6"));
    for (int twice = 0; twice < 2; twice++) must(tamis_add_u64s(sketch, ids, ROWS));
    must(tamis_add_packed(sketch, digests, WIDTH, ROWS));
    tamis_count_u64s(sketch, ids, ROWS, counts);
    expect(is_all(counts, 2) && tamis_count_u64(sketch, ids[5]) == 2, "every id is there twice");
    tamis_count_packed(sketch, digests, WIDTH, ROWS, counts);
    tamis_count_many(sketch, list, ROWS, found);
    expect(is_all(counts, 1) && is_all(found, 1), "and every digest once");
    must(tamis_remove_u64(sketch, ids[5]));
    expect(tamis_count_u64(sketch, ids[5]) == 1, "one is removed");
    tamis_free(sketch);
}

/* A map from keys to small values, built from a column of each. */
static tamis *build_map(int form) {
    tamis_builder *builder;
    tamis *map;
    must(tamis_builder_create(&builder, "bloomier:value=8,fpr=1e-6", 0, NULL));
    if (form == 0) must(tamis_builder_put_u64s(builder, ids, values, ROWS));
    if (form == 1) must(tamis_builder_put_packed(builder, digests, WIDTH, values, ROWS));
    if (form == 2) must(tamis_builder_put_many(builder, list, values, ROWS));
    if (form == 3) {
        tamis_builder_hash_many(builder, list, ROWS, hashes);
        must(tamis_builder_put_hashes(builder, hashes, values, ROWS));
    }
    if (form == 4) /* row by row */
        for (size_t i = 0; i < ROWS; i += 2) {
            must(tamis_builder_put(builder, digests[i], WIDTH, values[i]));
            must(tamis_builder_put_u64(builder, ids[i], values[i]));
        }
    must(tamis_builder_finish(builder, &map));
    tamis_builder_free(builder);
    return map;
}

static void get_columns(void) {
    uint64_t value = 0;
    for (int form = 0; form < 5; form++) {
        tamis *map = build_map(form);
        memset(hit, 0, sizeof hit);
        if (form == 0) tamis_get_u64s(map, ids, ROWS, found, hit);
        if (form == 1) tamis_get_packed(map, digests, WIDTH, ROWS, found, hit);
        if (form >= 2) tamis_get_many(map, list, ROWS, found, hit);
        printf("form %d: %zu of %d rows have a value\n", form, hits(), ROWS);
        expect(hits() >= ROWS / 2 && found[2] == values[2], "values come back");
        if (form == 0) expect(tamis_get_u64(map, ids[3], &value) && value == 3, "one by one too");
        tamis_free(map);
    }
}

/* An upper bound for each key that can be raised later. */
static void put_values(void) {
    tamis *bounds;
    uint64_t value = 0;
    must(tamis_create(&bounds, "approximator:capacity=1000,fpr=1e-6,value=8"));
    must(tamis_put_u64(bounds, 42, 7));
    must(tamis_put_u64(bounds, 42, 9));
    expect(tamis_get_u64(bounds, 42, &value) && value == 9, "the larger value is kept");
    tamis_free(bounds);
}

/* Keys that must be answered no, as with revoked certificates: no mistake on either list. */
static void exclude_keys(void) {
    tamis_builder *builder;
    tamis *revoked;
    size_t wrong = 0;
    must(tamis_builder_create(&builder, "cascade:", 0, NULL));
    for (size_t i = 0; i < ROWS; i++)
        if (i % 10)
            must(tamis_builder_exclude(builder, digests[i], WIDTH));
        else
            must(tamis_builder_add_hash(builder, tamis_builder_hash(builder, digests[i], WIDTH)));
    must(tamis_builder_finish(builder, &revoked));
    tamis_has_packed(revoked, digests, WIDTH, ROWS, hit);
    for (size_t i = 0; i < ROWS; i++) wrong += hit[i] != (i % 10 == 0);
    expect(wrong == 0, "both lists are answered without a mistake");
    tamis_builder_free(builder);
    tamis_free(revoked);
}

/* Sets with names: which of them has a key? */
static void label_keys(void) {
    tamis_builder *builder;
    tamis *sets;
    uint64_t label[2];
    must(tamis_builder_create(&builder, "labels:fpr=1e-6", 0, NULL));
    must(tamis_builder_label(builder, "even"));
    for (size_t i = 0; i < ROWS; i += 2) must(tamis_builder_add_u64(builder, ids[i]));
    must(tamis_builder_label(builder, "all"));
    must(tamis_builder_add_u64s(builder, ids, ROWS));
    must(tamis_builder_label(builder, "digests"));
    must(tamis_builder_add_packed(builder, digests, WIDTH, ROWS));
    must(tamis_builder_finish(builder, &sets));
    expect(tamis_labels(sets, &ids[2], sizeof ids[2], label, 2) == 2, "an even id is in two sets");
    expect(tamis_labels(sets, &ids[3], sizeof ids[3], label, 2) == 1 &&
               strcmp(tamis_label_name(sets, label[0]), "all") == 0,
           "an odd one in the set of all");
    expect(tamis_labels(sets, digests[3], WIDTH, label, 2) == 1, "a digest in one of its own");
    tamis_builder_free(builder);
    tamis_free(sets);
}

int main(void) {
    fill_columns();
    count_columns();
    get_columns();
    put_values();
    exclude_keys();
    label_keys();
    return 0;
}
