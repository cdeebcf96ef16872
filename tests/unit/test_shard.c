/* SPDX-License-Identifier: MIT */
/* Shards: built on many machines and joined, they equal what one would have built, byte for byte;
 * and an incomplete set of shards never becomes a filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kinds/shard.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_parts.h"

enum { KEYS = 20000, MAX_SHARDS = 4096 };

static const uint8_t secret[16] = "sixteen bytes...";

static const struct tamis_options keyed = {.struct_size = sizeof keyed, .secret = secret};

static const struct tamis_options *options_for(const char *spec) {
    return strstr(spec, "sip13") ? &keyed : NULL;
}

static tamis *create(const char *spec) {
    tamis *f;
    if (tamis_create_with(&f, spec, options_for(spec))) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

static tamis *create_shard(const char *spec, uint64_t i, uint64_t shards) {
    char text[256];
    const size_t len = tamis_shard_spec(spec, i, shards, text, sizeof text);
    if (!len || len >= sizeof text) fail_msg("%s: %s", spec, tamis_why());
    return create(text);
}

static uint64_t key_at(uint64_t i) {
    return i * 0x9e3779b97f4a7c15 + 1;
}

static tamis *whole_of(const char *spec, uint64_t keys) {
    tamis *f = create(spec);
    for (uint64_t i = 0; i < keys; i++) assert_int_equal(tamis_add_u64(f, key_at(i)), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "comment", "of all"), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "shards", "stays"), TAMIS_OK);
    return f;
}

static struct tamis_shard_info info_of(const tamis *f) {
    struct tamis_shard_info info = TAMIS_SHARD_INFO_INIT;
    assert_true(tamis_shard_get_info(f, &info));
    return info;
}

/* Every key goes to the machine with its shard. */
static void build_shards(tamis **shard, const char *spec, uint64_t shards, uint64_t keys) {
    for (uint64_t i = 0; i < shards; i++) {
        shard[i] = create_shard(spec, i, shards);
        assert_int_equal(tamis_set_note(shard[i], i ? "comment" : "source", "mine"), TAMIS_OK);
    }
    assert_int_equal(tamis_set_note(shard[0], "source", NULL), TAMIS_OK);
    assert_int_equal(tamis_set_note(shard[0], "shard.read", "17"), TAMIS_OK);
    assert_int_equal(tamis_set_note(shard[0], "shard.", ""), TAMIS_OK);
    assert_int_equal(tamis_set_note(shard[0], "shards", "stays"), TAMIS_OK);
    assert_int_equal(tamis_set_note(shard[0], "comment", "of all"), TAMIS_OK);
    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t key = key_at(i);
        uint64_t hash;
        uint32_t at;
        tamis_hash_u64s(shard[0], &key, 1, &hash);
        tamis_shards_of(shard[shards - 1], &hash, 1, &at);
        assert_int_equal(at, tamis_shard_of(shard[0], hash));
        if (tamis_add_hash(shard[at], hash)) fail_msg("%s", tamis_why());
    }
}

static void free_all(tamis **shard, uint64_t shards) {
    for (uint64_t i = 0; i < shards; i++) tamis_free(shard[i]);
}

static uint8_t *image_of(const tamis *f, size_t *size) {
    *size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(*size);
    assert_non_null(image);
    assert_int_equal(tamis_serialize(f, image, *size), TAMIS_OK);
    return image;
}

static void same_images(const tamis *a, const tamis *b) {
    size_t size, other;
    uint8_t *x = image_of(a, &size), *y = image_of(b, &other);
    assert_int_equal(size, other);
    assert_memory_equal(x, y, size);
    free(x);
    free(y);
}

/* ---- The shards of a whole ------------------------------------------------------------------- */

/* Shards are contiguous, none is empty, and their bytes are those of the whole. */
static void payloads_line_up(tamis **shard, uint64_t shards, const tamis *whole) {
    uint64_t size, at = 0, blocks = 0;
    const uint8_t *payload = tamis_payload(whole, &size);
    for (uint64_t i = 0; i < shards; i++) {
        const struct tamis_shard_info info = info_of(shard[i]);
        uint64_t part_size;
        const void *part = tamis_payload(shard[i], &part_size);
        assert_int_equal(info.shard, i);
        assert_int_equal(info.shards, shards);
        assert_int_equal(info.first_block, blocks);
        assert_true(info.blocks > 0 && part_size <= size - at);
        assert_memory_equal(part, payload + at, part_size);
        at += part_size;
        blocks += info.blocks;
    }
    assert_int_equal(at, size);
    assert_int_equal(blocks, info_of(shard[0]).total_blocks);
}

typedef struct source {
    tamis **shard;
    uint64_t asked, stop;
} source;

static const tamis *next_shard(void *ctx, uint64_t i) {
    source *s = ctx;
    assert_int_equal(i, s->asked);
    return s->asked++ == s->stop ? NULL : s->shard[i];
}

static char path[64];

static void joins_to_file(tamis **shard, const tamis *whole) {
    source s = {.shard = shard, .stop = UINT64_MAX};
    tamis *f;
    if (tamis_shard_join_to(path, next_shard, &s)) fail_msg("%s", tamis_why());
    assert_int_equal(tamis_map_with(&f, path, &keyed), TAMIS_OK);
    same_images(f, whole);
    tamis_free(f);
    unlink(path);
}

static void one_whole(const char *spec, uint64_t shards) {
    static tamis *shard[MAX_SHARDS], *cut[MAX_SHARDS];
    tamis *whole = whole_of(spec, KEYS), *joined;
    build_shards(shard, spec, shards, KEYS);
    payloads_line_up(shard, shards, whole);
    if (tamis_shard_join(&joined, (const tamis *const *)shard, shards, NULL))
        fail_msg("%s in %llu: %s", spec, (unsigned long long)shards, tamis_why());
    same_images(joined, whole);
    joins_to_file(shard, whole);
    for (uint64_t i = 0; i < shards; i++)
        if (tamis_shard_cut(&cut[i], whole, i, shards, NULL)) fail_msg("%s", tamis_why());
    payloads_line_up(cut, shards, whole);
    tamis_free(joined);
    assert_int_equal(tamis_shard_join(&joined, (const tamis *const *)cut, shards, NULL), TAMIS_OK);
    same_images(joined, whole);
    for (uint64_t i = 0; i < KEYS; i++) assert_true(tamis_has_u64(joined, key_at(i)));
    free_all(shard, shards);
    free_all(cut, shards);
    tamis_free(joined);
    tamis_free(whole);
}

static void joined_is_built_by_one(void **state) {
    static const char *const specs[] = {
        "blocked:capacity=300000,fpr=1%",
        "blocked:capacity=500000,fpr=5%,seed=7", /* a chain of fewer hashes */
        "capacity=200000,fpr=1e-5,hashes=16",
        "blocked:capacity=20000,size=600037,hash=sip13",
        "blocked:size= 300K,fpr=1%,hash=sip13,key=outside",
        "split:capacity=300000,fpr=1%,hash=xxh64",
        "split:capacity=300000,fpr=1%,index=wide,seed=99",
        "split:capacity=20000,size=200003,hash=sip13,index=wide",
    };
    static const uint64_t counts[] = {1, 2, 3, 24, MAX_SHARDS};
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++)
            if (counts[j] < MAX_SHARDS || i % 3 == 0) one_whole(specs[i], counts[j]);
}

/* ---- Where a hash belongs -------------------------------------------------------------------- */

/* By the definition, block after block, also where products exceed 2^64. */
static void hashes_are_where_blocks_are(void **state) {
    static const struct {
        uint64_t total, shards;
    } cut[] = {{1, 1}, {5, 3}, {5, 5}, {1000, 7}, {1023, 1022}, {4097, 4096}, {100000, 99999}};
    (void)state;
    for (size_t c = 0; c < sizeof cut / sizeof *cut; c++) {
        uint64_t shard = 0;
        for (uint64_t block = 0; block < cut[c].total; block++) {
            const uint64_t word[TAMIS_WORDS] = {0, 8, cut[c].total, 0, cut[c].shards};
            while (block >= (shard + 1) * cut[c].total / cut[c].shards) shard++;
            const uint64_t step = UINT64_MAX / cut[c].total; /* hashes are mid-block */
            const uint64_t hash = step * block + step / 2;
            assert_int_equal(tamis__shard_of(word, hash), shard);
        }
    }
}

static void huge_totals(void **state) {
    (void)state;
    tamis *f =
        create("shard:layout=split,bits=2^58,capacity=10T,shard=4294967294,shards=4294967295");
    const struct tamis_shard_info info = info_of(f);
    assert_int_equal(info.total_blocks, (uint64_t)1 << 50);
    assert_int_equal(info.first_block + info.blocks, info.total_blocks);
    assert_int_equal(tamis_shard_of(f, 0), 0);
    assert_int_equal(tamis_shard_of(f, UINT64_MAX), info.shards - 1);
    /* The first hash of the last shard, and the last of the one before. */
    const uint64_t first = info.first_block << 14;
    assert_int_equal(tamis_shard_of(f, first), info.shards - 1);
    assert_int_equal(tamis_shard_of(f, first - 1), info.shards - 2);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t hash = key_at(i), block = hash >> 14;
        const uint64_t at = tamis_shard_of(f, hash);
        assert_true(tamis__share(info.total_blocks, at, info.shards) <= block);
        assert_true(tamis__share(info.total_blocks, at + 1, info.shards) > block);
    }
    assert_int_equal(tamis_add_hash(f, first), TAMIS_OK);
    assert_int_equal(tamis_add_hash(f, first - 1), TAMIS_MISMATCH);
    tamis_free(f);
}

/* A batch with one key of another shard changes nothing, whatever its length, by hash or key. */
static void keys_of_other_shards_are_refused(void **state) {
    enum { N = 5000 };
    static uint64_t hashes[N], keys[N];
    (void)state;
    tamis *f = create_shard("split:capacity=100000", 2, 24),
          *empty = create_shard("split:capacity=100000", 2, 24);
    uint64_t key = 0, other = 0;
    for (size_t n = 0; n < N; key++) {
        uint64_t hash;
        tamis_hash_u64s(f, &key, 1, &hash);
        if (tamis_shard_of(f, hash) == 2)
            keys[n] = key, hashes[n++] = hash;
        else
            other = key;
    }
    const uint64_t kept = keys[N - 1];
    keys[N - 1] = other;
    tamis_hash_u64s(f, keys + N - 1, 1, hashes + N - 1);
    assert_int_equal(tamis_add_hashes(f, hashes, N), TAMIS_MISMATCH);
    assert_non_null(strstr(tamis_why(), "belongs to shard "));
    assert_non_null(strstr(tamis_why(), " of 24, and this is shard 2"));
    same_images(f, empty);
    assert_int_equal(tamis_add_u64s(f, keys, N), TAMIS_MISMATCH);
    same_images(f, empty);
    assert_true(tamis_has_hash(f, hashes[N - 1])); /* maybe: only its own shard knows */
    assert_false(tamis_has_hash(f, hashes[0]));
    keys[N - 1] = kept;
    assert_int_equal(tamis_add_u64s(f, keys, N), TAMIS_OK);
    assert_int_equal(tamis_remaining(f), UINT64_MAX);
    for (size_t i = 0; i < N; i++) assert_true(tamis_has_u64(f, keys[i]));
    tamis_free(f);
    tamis_free(empty);
}

/* One by one or in batches of any length, a shard answers as the whole does, and maybe for keys of
 * other shards. */
static void answers_are_those_of_the_whole(void **state) {
    enum { N = 5000 };
    static uint64_t hashes[N];
    static uint8_t whole_hit[N], hit[N];
    (void)state;
    static const char *const specs[] = {"blocked:capacity=9000,fpr=5%", "blocked:capacity=9000",
                                        "blocked:capacity=9000,hashes=16", "split:capacity=9000",
                                        "split:capacity=9000,index=wide"};
    for (size_t i = 0; i < N; i++) hashes[i] = key_at(key_at(i));
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        tamis *whole = whole_of(specs[s], 9000), *shard;
        assert_int_equal(tamis_shard_cut(&shard, whole, 1, 3, NULL), TAMIS_OK);
        assert_int_equal(tamis_add_hashes(whole, hashes, N / 8), TAMIS_OK);
        for (size_t i = 0; i < N / 8; i++)
            if (tamis_shard_of(shard, hashes[i]) == 1)
                assert_int_equal(tamis_add_hash(shard, hashes[i]), TAMIS_OK);
        tamis_has_hashes(whole, hashes, N, whole_hit);
        for (size_t n = 1; n <= N; n += n < 20 ? 1 : n) {
            memset(hit, 7, sizeof hit);
            for (size_t at = 0; at < N; at += n)
                tamis_has_hashes(shard, hashes + at, N - at < n ? N - at : n, hit + at);
            for (size_t i = 0; i < N; i++) {
                const bool is_mine = tamis_shard_of(shard, hashes[i]) == 1;
                assert_int_equal(hit[i], is_mine ? whole_hit[i] : 1);
                assert_int_equal(tamis_has_hash(shard, hashes[i]), hit[i]);
            }
        }
        tamis_free(whole);
        tamis_free(shard);
    }
}

/* Wholes planned for a size keep it: the shard is a part of it. */
static void specs_come_back(void **state) {
    static const char *const specs[] = {
        "blocked:capacity=1M,fpr=1%,hashes=5", "blocked:size=1M,fpr=0.1%",      "split:capacity=1M",
        "split:capacity=1M,index=wide",        "blocked:bits=2^20,capacity=1K",
    };
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tamis *f = create_shard(specs[i], 5, 7), *g, *whole = create(specs[i]), *cut;
        char text[256];
        assert_true(tamis_spec(f, text, sizeof text) < sizeof text);
        if (tamis_create(&g, text)) fail_msg("%s: %s", text, tamis_why());
        same_images(f, g);
        assert_int_equal(tamis_shard_cut(&cut, whole, 5, 7, NULL), TAMIS_OK);
        same_images(f, cut);
        struct tamis_plan of_whole = TAMIS_PLAN_INIT, of_shard = TAMIS_PLAN_INIT;
        assert_int_equal(tamis_plan_spec(specs[i], &of_whole), TAMIS_OK);
        assert_int_equal(tamis_plan_spec(text, &of_shard), TAMIS_OK);
        assert_true(of_whole.bits_per_key == of_shard.bits_per_key);
        assert_true(of_whole.fpr_expected == of_shard.fpr_expected);
        tamis_free(f);
        tamis_free(g);
        tamis_free(whole);
        tamis_free(cut);
    }
}

/* Two tasks that did the same work, or half of it each. */
static void halves_merge(void **state) {
    (void)state;
    tamis *a = create_shard("blocked:capacity=10000", 1, 2);
    tamis *b = create_shard("blocked:capacity=10000", 1, 2);
    tamis *both = create_shard("blocked:capacity=10000", 1, 2);
    tamis *other = create_shard("blocked:capacity=10000", 0, 2);
    for (uint64_t i = 0; i < 10000; i++) {
        const uint64_t hash = key_at(i);
        if (tamis_shard_of(a, hash) != 1) continue;
        assert_int_equal(tamis_add_hash(i % 2 ? a : b, hash), TAMIS_OK);
        assert_int_equal(tamis_add_hash(both, hash), TAMIS_OK);
    }
    assert_int_equal(tamis_merge(a, other), TAMIS_MISMATCH);
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    same_images(a, both);
    struct tamis_estimate items;
    assert_int_equal(tamis_items_now(a, &items), TAMIS_OK);
    assert_true(items.value > 4700 && items.value < 5300);
    tamis_free(a);
    tamis_free(b);
    tamis_free(both);
    tamis_free(other);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void must_refuse(tamis_status expected, const tamis *const *shard, size_t n,
                        const char *says) {
    tamis *joined = (tamis *)(uintptr_t)1;
    assert_int_equal(tamis_shard_join(&joined, shard, n, NULL), expected);
    assert_null(joined);
    if (!strstr(tamis_why(), says)) fail_msg("'%s' does not say '%s'", tamis_why(), says);
}

static void only_whole_sets_are_joined(void **state) {
    static const char spec[] = "split:capacity=10000";
    (void)state;
    tamis *s[3], *other;
    for (uint64_t i = 0; i < 3; i++) s[i] = create_shard(spec, i, 3);
    must_refuse(TAMIS_INVALID, NULL, 0, "no shards");
    must_refuse(TAMIS_MISMATCH, (const tamis *[]){s[0], s[1]}, 2, "2 shards where");
    must_refuse(TAMIS_MISMATCH, (const tamis *[]){s[0], s[2], s[1]}, 3,
                "shard 1 of 3: it is shard 2");
    must_refuse(TAMIS_MISMATCH, (const tamis *[]){s[1], s[0], s[2]}, 3,
                "shard 0 of 3: it is shard 1");
    must_refuse(TAMIS_MISMATCH, (const tamis *[]){s[0], s[1], s[1]}, 3,
                "shard 2 of 3: it is shard 1");
    must_refuse(TAMIS_MISMATCH, (const tamis *[]){s[0], s[1], s[2], s[2]}, 4, "4 shards where");
    static const char *const others[][2] = {
        {"split:capacity=10001", "capacity"},
        {"split:capacity=90000", "total differ"},
        {"blocked:capacity=10000", "layout"},
        {"split:capacity=10000,seed=1", "seed"},
        {"split:capacity=10000,hash=xxh64", "hash"},
        {"split:capacity=10000,hash=sip13", "secret"},
        {"split:capacity=10000,index=wide", "detail"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        other = create_shard(others[i][0], 1, 3);
        must_refuse(TAMIS_MISMATCH, (const tamis *[]){s[0], other, s[2]}, 3, others[i][1]);
        tamis_free(other);
    }
    other = create(spec);
    must_refuse(TAMIS_MISMATCH, (const tamis *[]){s[0], other, s[2]}, 3, "its kind is split");
    must_refuse(TAMIS_MISMATCH, (const tamis *[]){other, s[1], s[2]}, 3, "is not a shard");
    tamis_free(other);
    const struct tamis_options small = {.struct_size = sizeof small, .max_bytes = 1000};
    tamis *joined;
    assert_int_equal(tamis_shard_join(&joined, (const tamis *const *)s, 3, &small),
                     TAMIS_TOO_LARGE);
    free_all(s, 3);
}

/* A failed write leaves the old file and nothing beside it. */
static void files_are_whole_or_old(void **state) {
    (void)state;
    tamis *s[3], *old = whole_of("blocked:capacity=10", 10), *f;
    for (uint64_t i = 0; i < 3; i++) s[i] = create_shard("split:capacity=10000", i, 3);
    assert_int_equal(tamis_save(old, path), TAMIS_OK);
    source stops = {.shard = s, .stop = 2};
    assert_int_equal(tamis_shard_join_to(path, next_shard, &stops), TAMIS_CANCELLED);
    tamis *twisted[3] = {s[0], s[2], s[1]};
    source wrong = {.shard = twisted, .stop = UINT64_MAX};
    assert_int_equal(tamis_shard_join_to(path, next_shard, &wrong), TAMIS_MISMATCH);
    source whole = {.shard = &old, .stop = UINT64_MAX};
    assert_int_equal(tamis_shard_join_to(path, next_shard, &whole), TAMIS_MISMATCH);
    assert_int_equal(tamis_map(&f, path), TAMIS_OK);
    same_images(f, old);
    tamis_free(f);
    tamis_free(old);
    free_all(s, 3);
    unlink(path); /* removing the directory fails if anything else is in it */
}

static void bad_cuts_and_specs(void **state) {
    char text[128];
    (void)state;
    tamis *f = create("split:capacity=100"), *g = create("classic:capacity=100"), *part;
    struct tamis_info info = TAMIS_INFO_INIT;
    struct tamis_shard_info shard = TAMIS_SHARD_INFO_INIT;
    tamis_get_info(f, &info);
    assert_int_equal(tamis_shard_cut(&part, f, 0, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_shard_cut(&part, f, 2, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_shard_cut(&part, f, 0, info.word[0] + 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_shard_cut(&part, g, 0, 2, NULL), TAMIS_UNSUPPORTED);
    assert_null(part);
    assert_false(tamis_shard_get_info(f, &shard));
    assert_int_equal(tamis_shard_of(f, UINT64_MAX), 0);
    static const struct {
        const char *spec;
        uint64_t i, n;
        const char *says;
    } bad[] = {
        {"split:capacity=100", 0, 0, "shards: must be from 1"},
        {"split:capacity=100", 3, 3, "shard must be from 0 to 2"},
        {"split:capacity=100", 0, 1000, "blocks, not 1000"},
        {"split:capacity=1T", 0, (uint64_t)1 << 32, "shards: must be from 1"},
        {"split", 0, 2, "capacity is missing"},
        {"classic:capacity=100", 0, 2, "classic cannot be cut"},
        {"shard:capacity=100", 0, 2, "shard cannot be cut"},
        {"split:capacity=100,hashes=8", 0, 2, "no option 'hashes'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_shard_spec(bad[i].spec, bad[i].i, bad[i].n, text, sizeof text), 0);
        if (!strstr(tamis_why(), bad[i].says)) fail_msg("%s: %s", bad[i].spec, tamis_why());
    }
    assert_int_equal(tamis_create(&part, "shard:capacity=9,layout=split,hashes=8"), TAMIS_INVALID);
    tamis_builder *b;
    assert_int_equal(tamis_builder_create(&b, "shard:shards=2,fpr=1%", 0, NULL), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "cannot count the keys of the whole"));
    tamis_free(f);
    tamis_free(g);
}

static int make_dir(void **state) {
    (void)state;
    if (!mkdtemp(strcpy(path, "/tmp/tamis-shard.XXXXXX"))) return -1;
    strcat(path, "/whole.tamis");
    return 0;
}

static int remove_dir(void **state) {
    (void)state;
    unlink(path);
    *strrchr(path, '/') = '\0';
    return rmdir(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_is_built_by_one),
        cmocka_unit_test(hashes_are_where_blocks_are),
        cmocka_unit_test(huge_totals),
        cmocka_unit_test(keys_of_other_shards_are_refused),
        cmocka_unit_test(answers_are_those_of_the_whole),
        cmocka_unit_test(specs_come_back),
        cmocka_unit_test(halves_merge),
        cmocka_unit_test(only_whole_sets_are_joined),
        cmocka_unit_test(files_are_whole_or_old),
        cmocka_unit_test(bad_cuts_and_specs),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
