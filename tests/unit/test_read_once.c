/* SPDX-License-Identifier: MIT */
/* Bytes that change while a call reads them: whatever is accepted has passed the gate, and nothing
 * is read or written out of bounds.
 *
 * Most calls allocate between two reads, so the bytes of every registered format change before
 * every allocation. Images, patches and small files change before every read (of many: the first
 * dozen and a dozen of the others), which takes a host that can stop after every instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"
#include "tamis_parts.h"
#include "tests/support/changing.h"
#include "tests/support/foreign.h"

/* ---- Accepted filters are valid -------------------------------------------------------------- */

static void use(tamis *f, const char *what) {
    tamis *again;
    struct tamis_info info = TAMIS_INFO_INIT;
    const size_t size = (size_t)tamis_image_size(f);
    void *image = malloc(size);
    tamis_measure(f, &info);
    tamis_has(f, "alpha", 5);
    tamis_count(f, "beta", 4);
    if (tamis_serialize(f, image, size) || tamis_load(&again, image, size))
        fail_msg("%s: what came in does not pass the gate: %s", what, tamis_why());
    tamis_free(again);
    free(image);
    tamis_free(f);
}

/* Variants of the same length: the bytes of another file, as far as they go; or about one byte in
 * eight random, by a seed. */
static test_file like(test_file first, test_file other) {
    test_file second = {malloc(first.size + 1), first.size};
    memcpy(second.bytes, first.bytes, first.size);
    memcpy(second.bytes, other.bytes, other.size < first.size ? other.size : first.size);
    return second;
}

static test_file spoilt(test_file first, uint64_t seed) {
    test_file second = like(first, first);
    for (size_t i = 0; i < second.size; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (seed >> 61 == 0) second.bytes[i] = (uint8_t)(seed >> 40);
    }
    return second;
}

/* ---- Formats of other systems: a change at every allocation ---------------------------------- */

typedef struct memory {
    test_file bytes;
    const uint8_t *second;
    uint64_t calls, change_at;
} memory;

static void *change_and_alloc(void *ctx, size_t size) {
    memory *m = ctx;
    if (++m->calls == m->change_at) memcpy(m->bytes.bytes, m->second, m->bytes.size);
    return malloc(size);
}

static void plain_free(void *ctx, void *at, size_t size) {
    (void)ctx, (void)size;
    free(at);
}

static uint64_t walk_calls(const char *text, test_file first, test_file second) {
    memory m = {.bytes = like(first, first), .second = second.bytes};
    const struct tamis_allocator allocator = {
        .alloc = change_and_alloc, .free = plain_free, .ctx = &m};
    const struct tamis_options options = {
        .struct_size = sizeof options, .max_bytes = 1 << 24, .allocator = &allocator};
    uint64_t trials = 0;
    do {
        tamis *f;
        memcpy(m.bytes.bytes, first.bytes, first.size);
        m.calls = 0;
        m.change_at = ++trials;
        if (tamis_import_with(&f, text, m.bytes.bytes, m.bytes.size, &options) == TAMIS_OK)
            use(f, text);
    } while (m.calls >= m.change_at);
    free(m.bytes.bytes);
    return trials;
}

/* Parameters that the bytes of a format do not contain, and files of formats that we do not
 * write. */
static const struct sample {
    const char *text, *small, *large;
} samples[] = {
    {"cassandra:version=nb", NULL, NULL},
    {"bip158:key=000102030405060708090a0b0c0d0e0f", "bip158/bip158_words.bin",
     "bip158/bip158_words.bin"},
    {"libbloom1:entries=1000,error=0.05", "libbloom/libbloom16_n1000_p0.05_1000keys.bits",
     "libbloom/libbloom16_n1000_p0.05_1000keys.bits"},
    {"parquet:column=w", "parquet/duckdb_small.parquet", "parquet/duckdb_small.parquet"},
    {"leveldb-table", "leveldb/leveldb_table_200keys_10bpk.ldb",
     "leveldb/leveldb_table_200keys_10bpk.ldb"},
    {"rocksdb-sst", "rocksdb/fast_10bpk_11keys.sst", "rocksdb/ribbon_10bpk_240keys.sst"},
    {"fps", "fps/fp3.fps", "fps/fp2.fps"},
    {"binary-fuse", "binary-fuse/fuse8_3keys.bin", "binary-fuse/fuse16_100keys.bin"},
    {"binary-fuse-packed:width=16", "binary-fuse/fuse16_3keys.packed",
     "binary-fuse/fuse16_100keys.packed"},
    {"hadoop-retouched", "hadoop/retouched_jenkins_m16_k2.bin",
     "hadoop/retouched_murmur_m16_k2.bin"},
};

static const struct sample *sample_of(const char *name) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (strcspn(samples[i].text, ":") == strlen(name) &&
            strncmp(samples[i].text, name, strlen(name)) == 0)
            return &samples[i];
    return NULL;
}

static test_file made(const char *kind, const char *format, int keys) {
    char spec[128];
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    static const char *const params[] = {"capacity=%d,hash=xxh64,index=parquet",
                                         "capacity=%d,fpr=5%%", "capacity=%d", "width=%d,depth=3"};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        const int len = snprintf(spec, sizeof spec, "%s:", kind);
        snprintf(spec + len, sizeof spec - (size_t)len, params[i], keys);
        if (tamis_plan_spec(spec, &plan)) continue;
        tamis *f = test_range_filled(spec, 0, (uint64_t)keys / 2);
        const test_file file = test_export(f, format);
        tamis_free(f);
        return file;
    }
    return (test_file){NULL, 0};
}

/* No spec makes a filter block: it comes from a table. */
static test_file block_of_table(const char *format) {
    const test_file table = test_vector("leveldb/leveldb_table_200keys_10bpk.ldb");
    tamis *f = test_import("leveldb-table", table);
    const test_file block = test_export(f, format);
    tamis_free(f);
    free(table.bytes);
    return block;
}

static test_file sample_with(const char *kind, const char *format, int keys) {
    return strcmp(kind, "leveldb-block") == 0 ? block_of_table(format) : made(kind, format, keys);
}

static uint64_t walk_format(const char *text, test_file small, test_file large) {
    tamis *f;
    uint64_t trials = 0;
    const test_file pair[] = {like(small, large), like(large, small), spoilt(small, 7),
                              spoilt(large, 9)};
    /* Otherwise nothing would be tested. */
    if (tamis_import(&f, text, small.bytes, small.size)) fail_msg("%s: %s", text, tamis_why());
    tamis_free(f);
    for (size_t i = 0; i < 4; i++) {
        trials += walk_calls(text, i % 2 ? large : small, pair[i]);
        trials += walk_calls(text, pair[i], i % 2 ? large : small);
        free(pair[i].bytes);
    }
    return trials;
}

static void every_format(void **state) {
    (void)state;
    struct tamis_format_info info = TAMIS_FORMAT_INFO_INIT;
    uint64_t trials = 0;
    size_t formats = 0;
    for (size_t i = 0; tamis_format_at(i, &info); i++, formats++) {
        const struct sample *sample = sample_of(info.name);
        const char *text = sample ? sample->text : info.name;
        char kind[64];
        if (sample && sample->small) {
            test_file small = test_vector(sample->small), large = test_vector(sample->large);
            trials += walk_format(text, small, large);
            free(small.bytes), free(large.bytes);
            continue;
        }
        for (const char *p = info.kinds; *p; p += strcspn(p, " "), p += *p == ' ') {
            snprintf(kind, sizeof kind, "%.*s", (int)strcspn(p, " "), p);
            test_file small = sample_with(kind, text, 20), large = sample_with(kind, text, 90);
            if (!small.bytes) fail_msg("%s: there is no sample of %s", info.name, kind);
            trials += walk_format(text, small, large);
            free(small.bytes), free(large.bytes);
        }
    }
    print_message("# %zu formats, %llu changes\n", formats, (unsigned long long)trials);
}

#ifdef TEST_HAS_CHANGING

/* ---- Every point of change ------------------------------------------------------------------- */

typedef struct changed {
    const char *what;
    const void *bytes;
    size_t size;
    const void *ctx;
} changed;

typedef void trial(const changed *);

/* The change comes before read 1, 2, ... of all reads that an undisturbed call makes. */
static uint64_t walk(trial *try, const char *what, test_file first, test_file second,
                     const void *ctx) {
    enum { EACH_UP_TO = 12, MORE = 12 };
    assert_int_equal(first.size, second.size);
    uint64_t trials = 0, looks = 0;
    for (uint64_t at = 0; at <= looks; at += 1 + (at > EACH_UP_TO ? looks / MORE : 0)) {
        const void *bytes = changing_begin(first.bytes, second.bytes, first.size, at);
        try(&(changed){what, bytes, first.size, ctx});
        const uint64_t seen = changing_end();
        if (at == 0) looks = seen;
        trials++;
    }
    return trials;
}

static uint64_t walk_all(trial *try, const char *what, test_file a, test_file b, const void *ctx) {
    uint64_t trials = 0;
    const test_file pair[] = {like(a, b), like(b, a), spoilt(a, 7)};
    for (size_t i = 0; i < 3; i++) {
        trials += walk(try, what, i % 2 ? b : a, pair[i], ctx);
        free(pair[i].bytes);
    }
    return trials;
}

/* ---- Small files ----------------------------------------------------------------------------- */

static void try_import(const changed *c) {
    const struct tamis_options options = {.struct_size = sizeof options, .max_bytes = 1 << 24};
    tamis *f;
    if (tamis_import_with(&f, c->ctx, c->bytes, c->size, &options) == TAMIS_OK) use(f, c->what);
}

static void small_files(void **state) {
    (void)state;
    static const char *const dumps[] = {"redisbloom/bf_p0.01_n10.rdbdump.bin",
                                        "redisbloom/bf_p0.01_n10_nonscaling.rdbdump.bin",
                                        "redisbloom/cf_cap16.rdbdump.bin"};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        test_file a = test_vector(dumps[i]), b = test_vector(dumps[(i + 1) % 3]);
        walk_all(try_import, dumps[i], a, b, "redis-dump");
        free(a.bytes), free(b.bytes);
    }
}

/* ---- Images ---------------------------------------------------------------------------------- */

static test_file image_of(tamis *f) {
    test_file image = {malloc((size_t)tamis_image_size(f)), (size_t)tamis_image_size(f)};
    assert_int_equal(tamis_serialize(f, image.bytes, image.size), TAMIS_OK);
    tamis_free(f);
    return image;
}

static void try_load(const changed *c) {
    tamis *f;
    if (tamis_load(&f, c->bytes, c->size) == TAMIS_OK) use(f, c->what);
}

/* Also with the header of the other, larger image, whose checksum is right. */
static void every_image(void **state) {
    (void)state;
    static const char *const specs[] = {"blocked", "cuckoo", "scalable", "gcs"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s:capacity=20", specs[i]);
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        if (tamis_plan_spec(spec, &plan)) continue;
        tamis *f = test_range_filled(spec, 0, 10);
        if (strcmp(specs[i], "blocked") == 0) tamis_set_note(f, "comment", "a note");
        snprintf(spec, sizeof spec, "%s:capacity=200", specs[i]);
        test_file small = image_of(f), large = image_of(test_range_filled(spec, 0, 100));
        walk_all(try_load, specs[i], small, large, NULL);
        free(small.bytes), free(large.bytes);
    }
}

/* ---- Patches --------------------------------------------------------------------------------- */

typedef struct growing {
    test_file file;
} growing;

static bool take(void *ctx, const void *bytes, size_t size) {
    growing *to = ctx;
    to->file.bytes = realloc(to->file.bytes, to->file.size + size + 1);
    memcpy(to->file.bytes + to->file.size, bytes, size);
    to->file.size += size;
    return true;
}

typedef struct bases {
    test_file base, result;
} bases;

/* An accepted result is the promised one. */
static void try_apply(const changed *c) {
    const bases *b = c->ctx;
    struct tamis_patch_info info = TAMIS_PATCH_INFO_INIT;
    uint8_t *made_here = malloc(b->result.size);
    tamis_patch_get_info(c->bytes, c->size, &info);
    if (tamis_patch_apply(b->base.bytes, b->base.size, c->bytes, c->size, made_here,
                          b->result.size) == TAMIS_OK)
        assert_memory_equal(made_here, b->result.bytes, b->result.size);
    free(made_here);
}

static void every_patch(void **state) {
    (void)state;
    bases b = {image_of(test_range_filled("classic:capacity=100", 0, 20)),
               image_of(test_range_filled("classic:capacity=100", 0, 90))};
    growing changes = {{NULL, 0}}, back = {{NULL, 0}};
    assert_int_equal(tamis_patch_make(b.base.bytes, b.base.size, b.result.bytes, b.result.size,
                                      NULL, take, &changes),
                     TAMIS_OK);
    assert_int_equal(tamis_patch_make(b.result.bytes, b.result.size, b.base.bytes, b.base.size,
                                      NULL, take, &back),
                     TAMIS_OK);
    walk_all(try_apply, "a patch", changes.file, back.file, &b);
    free(changes.file.bytes), free(back.file.bytes);
    free(b.base.bytes), free(b.result.bytes);
}

#else

static void small_files(void **state) {
    (void)state;
    skip(); /* stepping supports one architecture only */
}
static void every_image(void **state) {
    small_files(state);
}
static void every_patch(void **state) {
    small_files(state);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format),
        cmocka_unit_test(small_files),
        cmocka_unit_test(every_image),
        cmocka_unit_test(every_patch),
    };
    return cmocka_run_group_tests_name("read once", tests, NULL, NULL);
}
