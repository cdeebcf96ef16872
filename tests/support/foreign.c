/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tamis_formats.h"
#include "tests/support/foreign.h"

/* ---- Files ---------------------------------------------------------------------------------- */

static test_file read_file(const char *path) {
    test_file file = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f) return file;
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    file.size = (size_t)ftell(f);
    rewind(f);
    file.bytes = malloc(file.size + 1);
    assert_non_null(file.bytes);
    assert_int_equal(fread(file.bytes, 1, file.size, f), file.size);
    fclose(f);
    return file;
}

test_file test_vector(const char *path) {
    char full[512];
    snprintf(full, sizeof full, "tests/vectors/%s", path);
    const test_file file = read_file(full);
    if (!file.bytes) fail_msg("%s is missing", full);
    return file;
}

test_file test_published(const char *path) {
    const char *dir = getenv("TAMIS_VECTORS");
    char full[512];
    snprintf(full, sizeof full, "%s/%s", dir ? dir : "../shared/vectors", path);
    const test_file file = read_file(full);
    if (!file.bytes) {
        print_message("# %s is missing: set TAMIS_VECTORS to its directory\n", full);
        skip();
    }
    return file;
}

/* ---- In and out ----------------------------------------------------------------------------- */

static bool append(void *ctx, const void *bytes, size_t size) {
    test_file *file = ctx;
    file->bytes = realloc(file->bytes, file->size + size + 1);
    if (!file->bytes) return false;
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
    return true;
}

test_file test_export(const tamis *f, const char *format) {
    test_file file = {malloc(1), 0};
    if (tamis_export(f, format, append, &file)) fail_msg("to %s: %s", format, tamis_why());
    return file;
}

tamis *test_import(const char *format, test_file file) {
    tamis *f;
    if (tamis_import(&f, format, file.bytes, file.size))
        fail_msg("from %s: %s", format, tamis_why());
    return f;
}

static void is_same(test_file a, test_file b, const char *when) {
    if (a.size != b.size || memcmp(a.bytes, b.bytes, a.size) != 0) {
        size_t at = 0;
        while (at < a.size && at < b.size && a.bytes[at] == b.bytes[at]) at++;
        fail_msg("%s: other bytes, %zu and %zu of them, from byte %zu on", when, a.size, b.size,
                 at);
    }
}

static void goes_out(const tamis *f, const char *format, test_file file, const char *when) {
    const test_file out = test_export(f, format);
    is_same(file, out, when);
    free(out.bytes);
}

void test_goes_round(const char *format, test_file file) {
    tamis *f = test_import(format, file), *g;
    goes_out(f, format, file, "in and out");
    const size_t size = (size_t)tamis_image_size(f);
    uint8_t *image = malloc(size);
    assert_int_equal(tamis_serialize(f, image, size), TAMIS_OK);
    if (tamis_load(&g, image, size)) fail_msg("its image: %s", tamis_why());
    goes_out(g, format, file, "by an image that was loaded");
    tamis_free(g);
    if (tamis_view(&g, image, size)) fail_msg("its image: %s", tamis_why());
    goes_out(g, format, file, "by a view of an image");
    tamis_free(g);
    free(image);
    tamis_free(f);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

struct tamis_key test_text(const char *text) {
    return (struct tamis_key){text, strlen(text)};
}

#define TEXT(s) \
    { s, sizeof s - 1 }
const struct tamis_key test_six_words[] = {TEXT("alpha"), TEXT("beta"), TEXT("gamma"),
                                           TEXT("delta"), TEXT(""),     TEXT("caf\xc3\xa9"),
                                           {NULL, 0}};
const struct tamis_key test_no_words[] = {TEXT("epsilon"), TEXT("zeta"),  TEXT("eta"),
                                          TEXT("theta"),   TEXT("iota"),  TEXT("kappa"),
                                          TEXT("a"),       TEXT("Alpha"), {NULL, 0}};

void test_all_in(const tamis *f, const struct tamis_key *keys) {
    for (size_t i = 0; keys[i].bytes; i++)
        if (!tamis_has(f, keys[i].bytes, keys[i].len))
            fail_msg("key %zu of the list is missing", i);
}

void test_none_in(const tamis *f, const struct tamis_key *keys) {
    for (size_t i = 0; keys[i].bytes; i++)
        if (tamis_has(f, keys[i].bytes, keys[i].len))
            fail_msg("key %zu of those that are not in is found", i);
}

static struct tamis_key numbered(uint64_t i, char text[32]) {
    return (struct tamis_key){text, (size_t)snprintf(text, 32, "key-%llu", (unsigned long long)i)};
}

static bool has_number(const tamis *f, uint64_t i) {
    char text[32];
    const struct tamis_key key = numbered(i, text);
    return tamis_has(f, key.bytes, key.len);
}

void test_range_in(const tamis *f, uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++)
        if (!has_number(f, i)) fail_msg("key-%llu is missing", (unsigned long long)i);
}

void test_range_hits(const tamis *f, uint64_t from, uint64_t to, const uint64_t *hits) {
    for (uint64_t i = from; i < to; i++) {
        const bool is_expected = *hits == i;
        hits += is_expected;
        if (has_number(f, i) != is_expected)
            fail_msg("key-%llu is %s false positive", (unsigned long long)i,
                     is_expected ? "no" : "a");
    }
}

void test_add(tamis *f, const struct tamis_key *keys) {
    for (size_t i = 0; keys[i].bytes; i++)
        if (tamis_add(f, keys[i].bytes, keys[i].len)) fail_msg("key %zu: %s", i, tamis_why());
}

void test_add_range(tamis *f, uint64_t from, uint64_t to) {
    char text[32];
    for (uint64_t i = from; i < to; i++) {
        const struct tamis_key key = numbered(i, text);
        if (tamis_add(f, key.bytes, key.len))
            fail_msg("key-%llu: %s", (unsigned long long)i, tamis_why());
    }
}

static tamis *create(const char *spec) {
    tamis *f;
    if (tamis_create(&f, spec)) fail_msg("%s: %s", spec, tamis_why());
    return f;
}

/* Kinds that are built once come from a builder, in the order of the keys. */
static bool is_built(const char *spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan)) fail_msg("%s: %s", spec, tamis_why());
    return plan.abilities & TAMIS_IS_BUILT;
}

static tamis_builder *open_builder(const char *spec) {
    tamis_builder *b;
    if (tamis_builder_create(&b, spec, 0, NULL)) fail_msg("%s: %s", spec, tamis_why());
    return b;
}

static tamis *finished(tamis_builder *b) {
    tamis *f;
    if (tamis_builder_finish(b, &f)) fail_msg("finishing: %s", tamis_why());
    tamis_builder_free(b);
    return f;
}

tamis *test_filled(const char *spec, const struct tamis_key *keys) {
    if (!is_built(spec)) {
        tamis *f = create(spec);
        test_add(f, keys);
        return f;
    }
    tamis_builder *b = open_builder(spec);
    for (size_t i = 0; keys[i].bytes; i++)
        if (tamis_builder_add(b, keys[i].bytes, keys[i].len))
            fail_msg("key %zu: %s", i, tamis_why());
    return finished(b);
}

tamis *test_range_filled(const char *spec, uint64_t from, uint64_t to) {
    if (!is_built(spec)) {
        tamis *f = create(spec);
        test_add_range(f, from, to);
        return f;
    }
    tamis_builder *b = open_builder(spec);
    char text[32];
    for (uint64_t i = from; i < to; i++) {
        const struct tamis_key key = numbered(i, text);
        if (tamis_builder_add(b, key.bytes, key.len))
            fail_msg("key-%llu: %s", (unsigned long long)i, tamis_why());
    }
    return finished(b);
}

void test_written_anew(const char *spec, const struct tamis_key *keys, const char *format,
                       test_file file) {
    tamis *f = test_filled(spec, keys);
    goes_out(f, format, file, spec);
    tamis_free(f);
}

void test_range_written_anew(const char *spec, uint64_t from, uint64_t to, const char *format,
                             test_file file) {
    tamis *f = test_range_filled(spec, from, to);
    goes_out(f, format, file, spec);
    tamis_free(f);
}

/* ---- Hostile bytes -------------------------------------------------------------------------- */

enum { ALL_VALUES_UP_TO = 2048, SLACK = 1 << 20 };

/* Bytes before a guard page, so that a read past them is seen at once. */
typedef struct walled {
    uint8_t *memory;
    size_t mapped, room;
} walled;

static walled wall(size_t room) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (room + page - 1) / page + 1;
    walled w = {.mapped = pages * page, .room = room};
    w.memory = mmap(NULL, w.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(w.memory, MAP_FAILED);
    assert_int_equal(mprotect(w.memory + w.mapped - page, page, PROT_NONE), 0);
    return w;
}

static uint8_t *put_at_wall(const walled *w, const uint8_t *bytes, size_t size) {
    uint8_t *at = w->memory + w->mapped - (size_t)sysconf(_SC_PAGESIZE) - size;
    memcpy(at, bytes, size);
    return at;
}

typedef struct tally {
    size_t held, max;
} tally;

static void *counted_alloc(void *ctx, size_t size) {
    tally *t = ctx;
    t->held += size;
    if (t->held > t->max) t->max = t->held;
    return malloc(size);
}

static void counted_free(void *ctx, void *memory, size_t size) {
    tally *t = ctx;
    t->held -= size;
    free(memory);
}

static bool ignore(void *ctx, const void *bytes, size_t size) {
    (void)ctx, (void)bytes, (void)size;
    return true;
}

static bool count_found(void *ctx, const struct tamis_found *found) {
    return found && ++*(size_t *)ctx < 1000;
}

/* An accepted filter is a filter like any other. Measuring and planning may take a millisecond. */
static void use(tamis *f, const char *format, bool is_measured) {
    struct tamis_info info = TAMIS_INFO_INIT;
    char spec[64];
    if (is_measured) {
        tamis_measure(f, &info);
        tamis_spec(f, spec, sizeof spec);
    }
    tamis_has(f, "alpha", 5);
    tamis_has(f, "", 0);
    tamis_count(f, "key-7", 5);
    const tamis_status rc = tamis_export(f, format, ignore, NULL);
    if (rc && rc != TAMIS_UNSUPPORTED)
        fail_msg("it was imported but cannot be exported: %s", tamis_why());
}

static bool is_let_in(const char *format, const uint8_t *bytes, size_t size, bool is_measured) {
    tally t = {0, 0};
    const struct tamis_allocator counted = {counted_alloc, counted_free, &t, false};
    const struct tamis_options options = {.struct_size = sizeof options, .allocator = &counted};
    tamis *f;
    size_t found = 0;
    tamis_format_scan(format, bytes, size, count_found, &found);
    const tamis_status rc = tamis_import_with(&f, format, bytes, size, &options);
    if (!rc) use(f, format, is_measured);
    if (rc && !*tamis_why()) fail_msg("it is refused without a message");
    tamis_free(f);
    if (t.held) fail_msg("%zu bytes leaked", t.held);
    if (t.max > 2 * size + SLACK)
        fail_msg("%zu bytes were allocated for %zu of input", t.max, size);
    return !rc;
}

bool test_is_let_in(const char *format, const uint8_t *bytes, size_t size) {
    return is_let_in(format, bytes, size, true);
}

uint64_t test_hostile(const char *format, test_file file) {
    static const uint8_t some[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    const walled w = wall(file.size);
    uint64_t let_in = 0;
    for (size_t size = 0; size <= file.size; size++)
        let_in += test_is_let_in(format, put_at_wall(&w, file.bytes, size), size);
    uint8_t *at = put_at_wall(&w, file.bytes, file.size);
    for (size_t i = 0; i < file.size; i++) {
        const bool is_all = file.size <= ALL_VALUES_UP_TO && !getenv("TAMIS_QUICK");
        for (unsigned v = 0; v < (is_all ? 256 : sizeof some); v++) {
            at[i] = is_all ? (uint8_t)v : some[v];
            const bool is_measured = at[i] % 16 == 0 || at[i] % 16 == 15 || at[i] == 1;
            if (at[i] != file.bytes[i]) let_in += is_let_in(format, at, file.size, is_measured);
        }
        at[i] = file.bytes[i];
    }
    assert_int_equal(munmap(w.memory, w.mapped), 0);
    return let_in;
}

/* ---- Bytes and specs as in a specification --------------------------------------------------- */

test_file test_hex(const char *hex) {
    const size_t size = strlen(hex) / 2;
    test_file file = {malloc(size + 1), size};
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) fail_msg("'%s' is not hexadecimal", hex);
        file.bytes[i] = (uint8_t)byte;
    }
    return file;
}

void test_refused(const char *format, test_file file, const char *why) {
    tamis *f;
    if (tamis_import(&f, format, file.bytes, file.size) != TAMIS_CORRUPT)
        fail_msg("%zu invalid bytes are accepted as %s", file.size, format);
    if (!strstr(tamis_why(), why)) fail_msg("'%s' does not say '%s'", tamis_why(), why);
}

void test_hex_refused(const char *format, const char *hex, const char *why) {
    const test_file file = test_hex(hex);
    test_refused(format, file, why);
    free(file.bytes);
}

void test_spec_refused(const char *spec, tamis_status status, const char *why) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan) != status)
        fail_msg("%s: not %s but: %s", spec, tamis_status_name(status), tamis_why());
    if (!strstr(tamis_why(), why)) fail_msg("%s: '%s' does not say '%s'", spec, tamis_why(), why);
}

void test_planned(const char *spec, uint64_t word_0, uint64_t word_1) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan)) fail_msg("%s: %s", spec, tamis_why());
    if (plan.word[0] != word_0 || plan.word[1] != word_1)
        fail_msg("%s: %llu bits and %llu hashes", spec, (unsigned long long)plan.word[0],
                 (unsigned long long)plan.word[1]);
}

void test_spec_leads_back(const tamis *f) {
    char spec[256];
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_spec(f, spec, sizeof spec);
    tamis_measure(f, &info);
    if (tamis_plan_spec(spec, &plan)) fail_msg("%s: %s", spec, tamis_why());
    if (memcmp(plan.word, info.word, sizeof plan.word) != 0)
        fail_msg("%s makes another shape", spec);
}
