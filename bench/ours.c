/* SPDX-License-Identifier: MIT */
/* Our kinds, through the public API. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "tamis_inline.h"

/* ---- Building -------------------------------------------------------------------------------- */

/* For as many keys as it will have, unless the spec has a capacity: tables may be compared with
 * equal room. */
static char *spec_for(const char *spec, size_t n) {
    char *text = malloc(strlen(spec) + 40);
    if (text && strstr(spec, "capacity=")) return strcpy(text, spec);
    if (text) sprintf(text, "%s%ccapacity=%zu", spec, strchr(spec, ':') ? ',' : ':', n);
    return text;
}

struct source {
    const uint64_t *numbers;
    const uint8_t *strings; /* rows of one width */
    size_t width, n;
    bool is_one_by_one; /* the numbers, each by a call */
    enum tamis_pages pages;
};

bool ours_is_built_once(const char *spec) {
    char name[32] = "";
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    sscanf(spec, "%31[^:]", name);
    return tamis_kind_named(name, &kind) && (kind.abilities & TAMIS_IS_BUILT);
}

static bool adds_one_by_one(const struct contestant *c) {
    return !strcmp(way_of(c), "add");
}

static enum tamis_pages pages_of(const struct contestant *c) {
    return strcmp(way_of(c), "giant") ? TAMIS_PAGES_LARGE : TAMIS_PAGES_GIANT;
}

bool ours_are_built_alike(const struct contestant *a, const struct contestant *b) {
    return !strcmp(a->name, b->name) && adds_one_by_one(a) == adds_one_by_one(b) &&
           pages_of(a) == pages_of(b);
}

static tamis_status by_builder(tamis **f, const char *spec, struct source from,
                               const struct tamis_options *options) {
    const struct tamis_builder_options how = {
        .struct_size = sizeof how, .filter = options, .threads = options->threads};
    tamis_builder *b;
    tamis_status rc = tamis_builder_create_with(&b, spec, &how);
    if (!rc && from.numbers) rc = tamis_builder_add_u64s(b, from.numbers, from.n);
    if (!rc && from.strings) rc = tamis_builder_add_packed(b, from.strings, from.width, from.n);
    if (!rc) rc = tamis_builder_finish(b, f);
    tamis_builder_free(b);
    return rc;
}

static tamis_status add_one_by_one(tamis *f, const uint64_t *keys, size_t n) {
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; i < n && !rc; i++) rc = tamis_add_u64(f, keys[i]);
    return rc;
}

static tamis_status by_adding(tamis **f, const char *spec, struct source from,
                              const struct tamis_options *options) {
    tamis_status rc = tamis_create_with(f, spec, options);
    if (!rc && from.numbers)
        rc = from.is_one_by_one ? add_one_by_one(*f, from.numbers, from.n)
                                : tamis_add_u64s(*f, from.numbers, from.n);
    if (!rc && from.strings) rc = tamis_add_packed(*f, from.strings, from.width, from.n);
    if (rc) tamis_free(*f), *f = NULL;
    return rc;
}

static tamis *build(const char *kind, struct source from, unsigned threads) {
    const struct tamis_options options = {
        .struct_size = sizeof options, .threads = threads, .pages = from.pages};
    char *spec = spec_for(kind, from.n);
    tamis *f = NULL;
    if (!spec) return NULL;
    const tamis_status rc = ours_is_built_once(kind) ? by_builder(&f, spec, from, &options)
                                                     : by_adding(&f, spec, from, &options);
    if (rc) fprintf(stderr, "%s: %s\n", spec, tamis_why());
    free(spec);
    return f;
}

void *ours_build(const struct contestant *c, const uint64_t *keys, size_t n, unsigned threads) {
    const bool is_one_by_one = adds_one_by_one(c);
    const struct source from = {
        .numbers = keys, .n = n, .is_one_by_one = is_one_by_one, .pages = pages_of(c)};
    return build(c->name, from, threads);
}

void *ours_build_strings(const char *spec, const uint8_t *keys, size_t len, size_t n,
                         unsigned threads) {
    return build(spec, (struct source){.strings = keys, .width = len, .n = n}, threads);
}

double ours_rate(const char *spec, size_t n) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    char *text = spec_for(spec, n);
    const bool ok = text && !tamis_plan_spec(text, &plan);
    free(text);
    return ok ? plan.fpr_expected : 0;
}

static size_t bytes(const void *filter) {
    uint64_t size;
    tamis_payload(filter, &size);
    return (size_t)size;
}

static void free_filter(void *filter) {
    tamis_free(filter);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static void has_one(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n; i++) hit[i] = tamis_has_u64(filter, keys[i]);
}

static void has_batch(const void *filter, const uint64_t *keys, size_t n, uint8_t *hit) {
    tamis_has_u64s(filter, keys, n, hit);
}

static void has_one_string(const void *filter, const uint8_t *keys, size_t len, size_t n,
                           uint8_t *hit) {
    for (size_t i = 0; i < n; i++) hit[i] = tamis_has(filter, keys + i * len, len);
}

static void has_many_strings(const void *filter, const uint8_t *keys, size_t len, size_t n,
                             uint8_t *hit) {
    tamis_has_packed(filter, keys, len, n, hit);
}

static uint64_t chase(const void *filter, uint64_t key, size_t n) {
    while (n--) key = bench_next(key, tamis_has_u64(filter, key));
    return key;
}

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#define RELEASE \
    TEXT_OF(TAMIS_VERSION_MAJOR) "." TEXT_OF(TAMIS_VERSION_MINOR) "." TEXT_OF(TAMIS_VERSION_PATCH)

#define WAY(how, ...)                                                                 \
    {                                                                                 \
        .version = BENCH_CONTESTANT, .name = "tamis", .api = how, .release = RELEASE, \
        .bytes = bytes, .free = free_filter, .large_pages = true, .has = __VA_ARGS__  \
    }
static const struct bench_contestant ways[] = {
    WAY("one", has_one, .has_strings = has_one_string, .chase = chase),
    WAY("batch", has_batch, .has_strings = has_many_strings),
    WAY("bulk", has_batch, .has_strings = has_many_strings), /* with threads inside the library */
    WAY("add", has_one, .chase = chase), /* one, and built by one call for each key */
    WAY("giant", has_batch),             /* batch, on pages of 1 GiB */
    WAY("push", push_has), /* each key by itself, with an answer about an earlier one */
    WAY("inline", inline_has, .chase = inline_chase),
};

/* Does the spec make a filter that tamis_inline.h supports? */
static bool has_fast_view(const char *spec) {
    static const uint64_t key = 1;
    tamis *f = build(spec, (struct source){.numbers = &key, .n = 1}, 1);
    struct tamis_inline fast = TAMIS_INLINE_INIT;
    const bool ok = f && !tamis_inline_view(f, &fast);
    tamis_free(f);
    return ok;
}

size_t ours_enter(struct contestant *all, size_t count, const char *spec, const char *wanted) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    char *text = spec_for(spec, 1000);
    if (text && tamis_plan_spec(text, &plan)) {
        fprintf(stderr, "bench: %s: %s\n", spec, tamis_why());
        exit(2);
    }
    const bool is_fast = text && has_fast_view(text);
    free(text);
    for (size_t i = 0; i < COUNT_OF(ways) && count < MAX_CONTESTANTS; i++) {
        if (!is_listed(wanted, ways[i].api) || (ways[i].has == inline_has && !is_fast)) continue;
        if (!strcmp(ways[i].api, "add") && (!wanted || ours_is_built_once(spec))) continue;
        if (!strcmp(ways[i].api, "giant") && !wanted) continue;
        struct contestant *c = &all[count++];
        *c = (struct contestant){.calls = &ways[i], .side = OURS};
        snprintf(c->name, sizeof c->name, "%s", spec);
    }
    return count;
}
