/* SPDX-License-Identifier: MIT */
/* Laws about failure: memory that runs out at any moment, filters that are full. */
#include <stdlib.h>
#include <string.h>

#include "tests/laws/laws.h"

/* An allocator that fails at the n-th call, once or from then on, and counts what is not freed. */
typedef struct failing {
    long calls, fail_at;
    bool for_ever;
    long blocks;
    size_t bytes;
} failing;

enum { DIRTY = 1 << 14 }; /* of large blocks only the start: a builder has many */

static void *take(void *ctx, size_t size) {
    failing *p = ctx;
    p->calls++;
    if (p->calls == p->fail_at || (p->for_ever && p->calls > p->fail_at && p->fail_at)) return NULL;
    void *memory = malloc(size);
    if (!memory) abort();
    memset(memory, 0xa5, size < DIRTY ? size : DIRTY); /* contents must not matter */
    p->blocks++;
    p->bytes += size;
    return memory;
}

static void put_back(void *ctx, void *memory, size_t size) {
    failing *p = ctx;
    p->blocks--;
    p->bytes -= size;
    free(memory);
}

enum { N = 600 };

/* Adds beyond the capacity, where the kind allows it; `held` is the number of keys then. */
static tamis_status add_more(tamis *f, const struct tamis_key *keys, uint64_t *held) {
    const tamis_status rc = tamis_add_many(f, keys, 2 * N);
    if (rc == TAMIS_FULL) return TAMIS_OK; /* fixed room: the filter continues with what it holds */
    if (rc == TAMIS_OK) *held = 2 * N;
    return rc;
}

#define TWICE(call)                                                     \
    do {                                                                \
        tamis_status rc_ = (call);                                      \
        if (rc_ == TAMIS_NOMEM) rc_ = (call);                           \
        if (rc_ == TAMIS_NOMEM && p->for_ever) goto done;               \
        if (rc_ != TAMIS_OK) {                                          \
            what = wrong("%s gives %s", #call, tamis_status_name(rc_)); \
            goto done;                                                  \
        }                                                               \
    } while (0)

/* A filter with N keys, or NULL when memory stays gone; `what` otherwise. With threads, so that an
 * allocation fails on one of them while another continues. */
static const char *birth(const subject *s, failing *p, const struct tamis_options *options,
                         const struct tamis_key *keys, tamis **f) {
    const struct tamis_builder_options how = {
        .struct_size = sizeof how, .filter = options, .threads = 2};
    tamis_builder *b = NULL;
    const char *what = NULL;
    if (s->can & TAMIS_IS_BUILT) {
        TWICE(tamis_builder_create_with(&b, spec_of(s, N, 0.01, NULL), &how));
        if (s->can & TAMIS_CAN_LABEL) TWICE(tamis_builder_label(b, "one"));
        TWICE(tamis_builder_add_many(b, keys, N)); /* duplicates are dropped */
        TWICE(tamis_builder_finish(b, f));
    } else {
        TWICE(tamis_create_with(f, spec_of(s, N, 0.01, NULL), options));
        TWICE(tamis_add_many(*f, keys, N));
    }
done:
    tamis_builder_free(b);
    return what;
}

/* A life with every call that allocates. Each failure must be TAMIS_NOMEM, and the filter must be
 * as before: it is queried, and tried again. Returns what went wrong. */
static const char *life(const subject *s, failing *p) {
    const struct tamis_allocator allocator = {take, put_back, p, false};
    struct tamis_options options = *secret_options(s->options);
    options.allocator = &allocator;
    static char buffer[2 * N][32];
    static struct tamis_key keys[2 * N];
    for (uint64_t i = 0; i < 2 * N; i++) keys[i] = key_at(i, buffer[i]);
    tamis *f = NULL, *g = NULL, *h = NULL;
    uint8_t *image = NULL;
    size_t size;
    uint64_t held = N;
    const char *what = birth(s, p, &options, keys, &f);
    if (what || !f) goto done;
    if (s->can & TAMIS_CAN_ADD) TWICE(add_more(f, keys, &held)); /* kinds that grow do it here */
    TWICE(tamis_set_note(f, "one", "1"));
    TWICE(tamis_set_note(f, "two", "2"));
    TWICE(tamis_copy(&g, f));
    image = test_image(f, &size);
    TWICE(tamis_load_with(&h, image, size, &options));
    tamis_free(h);
    TWICE(tamis_view_with(&h, image, size, &options));
    tamis_free(h);
    h = NULL;
    if (s->can & TAMIS_CAN_FOLD) {
        const tamis_status odd = tamis_fold(f, 2); /* not every plan is even */
        if (odd != TAMIS_INVALID) TWICE(odd == TAMIS_OK ? TAMIS_OK : tamis_fold(f, 2));
    }
    if (s->can & TAMIS_IS_BUILT && s->can & TAMIS_CAN_MERGE) TWICE(tamis_merge(f, f));
    if (!(s->can & TAMIS_AGES) &&
        (count_keys(f, 0, held) != held || count_keys(g, 0, held) != held))
        what = "keys are lost after a failed allocation";
    else if (strcmp(tamis_note(g, "one"), "1") != 0 || strcmp(tamis_note(f, "two"), "2") != 0)
        what = "notes are lost after a failed allocation";
done:
    free(image);
    tamis_free(f);
    tamis_free(g);
    tamis_free(h);
    return what;
}
#undef TWICE

/* Every allocation of a filter's life. Of the many that a builder makes for its partitions, the
 * first, the last and some between. */
static long next_to_fail(long at, long calls) {
    enum { EACH = 24, STRIDE = 53, LAST = 40 };
    return at < EACH || at > calls - LAST ? at + 1 : at + STRIDE;
}

static const char *out_of_memory_is_safe(const subject *s) {
    failing whole = {0};
    const char *what = life(s, &whole);
    if (what) return what;
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (long at = 1; at <= whole.calls; at = next_to_fail(at, whole.calls)) {
            failing p = {.fail_at = at, .for_ever = for_ever};
            what = life(s, &p);
            if (what) return what;
            if (p.blocks || p.bytes) return wrong("failing at %ld leaks %ld blocks", at, p.blocks);
        }
    return whole.blocks || whole.bytes ? "a whole life leaks" : NULL;
}

/* A change that fails leaves the filter as it was: bit for bit where the bytes follow from the
 * adds, in every answer where fingerprints may be in several places. Kinds without a limit never
 * fail. */
static const char *failure_changes_nothing(const subject *s) {
    enum { MANY = 3000 };
    static char buffer[MANY][32];
    static struct tamis_key keys[MANY];
    for (uint64_t i = 0; i < MANY; i++) keys[i] = key_at(i, buffer[i]);
    tamis *f = make(s, 10, 0.01, NULL), *old;
    const char *what = NULL;
    add_keys(f, 0, 5);
    if (tamis_copy(&old, f)) abort();
    if (tamis_add_many(f, keys, MANY) == TAMIS_OK) {
        if (!(s->can & TAMIS_AGES) && count_keys(f, 0, MANY) != MANY)
            what = "it says that it took keys which it lost";
    } else if (s->can & TAMIS_ANY_ORDER ? !same_payload(f, old)
                                        : !same_answers(f, old, 0, 2 * MANY)) {
        what = "an add that failed changed the filter";
    }
    tamis_free(f);
    tamis_free(old);
    return what;
}

/* Growth keeps everything, one by one and all at once. */
static const char *growth_keeps_keys(const subject *s) {
    tamis *f = make(s, 4, 0.01, NULL);
    const char *what = NULL;
    for (uint64_t i = 0; i < 3000 && !what; i++) {
        add_keys(f, i, i + 1);
        if (i % 97 == 0 && count_keys(f, 0, i + 1) != i + 1)
            what = wrong("keys are lost at %llu", (unsigned long long)i);
    }
    if (!what && count_keys(f, 0, 3000) != 3000) what = "keys are lost";
    tamis_free(f);
    return what;
}

/* A limit on bytes holds when creating, or when building, and when loading. */
static tamis_status make_limited(const subject *s, const struct tamis_options *options, tamis **f) {
    const struct tamis_builder_options how = {.struct_size = sizeof how, .filter = options};
    if (!(s->can & TAMIS_IS_BUILT)) return tamis_create_with(f, spec_of(s, N, 0.01, NULL), options);
    tamis_builder *b;
    *f = NULL;
    tamis_status rc = tamis_builder_create_with(&b, spec_of(s, N, 0.01, NULL), &how);
    if (rc) return rc;
    intake in = {.subject = s, .builder = b};
    take_in_keys(&in, 0, N);
    rc = tamis_builder_finish(b, f);
    tamis_builder_free(b);
    return rc;
}

static const char *limit_holds(const subject *s) {
    tamis *f, *g;
    size_t size;
    uint64_t payload;
    struct tamis_options options = *secret_options(s->options);
    if (make_limited(s, &options, &f)) return wrong("without a limit: %s", tamis_why());
    uint8_t *image = test_image(f, &size);
    tamis_payload(f, &payload);
    options.max_bytes = payload - 1;
    const char *what = NULL;
    if (make_limited(s, &options, &g) != TAMIS_TOO_LARGE || g ||
        tamis_load_with(&g, image, size, &options) != TAMIS_TOO_LARGE)
        what = "a payload over the limit is made";
    options.max_bytes = payload;
    if (tamis_load_with(&g, image, size, &options)) what = "a payload at the limit is refused";
    tamis_free(g);
    tamis_free(f);
    free(image);
    return what;
}

/* ... and for the life of the filter, and of its copies: growth stops there, and loses nothing. */
static const char *growth_has_a_limit(const subject *s) {
    enum { ROOM = 20, MANY = 100000 };
    struct tamis_options options = *secret_options(s->options);
    tamis *f, *copy, *loaded;
    uint64_t payload, n = 0;
    tamis_status rc = tamis_create_with(&f, spec_of(s, 4, 0.01, NULL), &options);
    if (rc) return wrong("without a limit: %s", tamis_why());
    tamis_payload(f, &payload);
    tamis_free(f);
    options.max_bytes = ROOM * payload;
    if (tamis_create_with(&f, spec_of(s, 4, 0.01, NULL), &options)) return tamis_why();
    char buffer[32];
    for (; n < MANY && !rc; n += !rc) {
        const struct tamis_key key = key_at(n, buffer);
        rc = tamis_add(f, key.bytes, key.len);
    }
    tamis_payload(f, &payload);
    const char *what = NULL;
    if (rc != TAMIS_TOO_LARGE)
        what = wrong("%llu keys: %s", (unsigned long long)n, tamis_status_name(rc));
    else if (payload > options.max_bytes)
        what = wrong("it grew to %llu bytes", (unsigned long long)payload);
    else if (count_keys(f, 0, n) != n)
        what = "keys are lost";
    const struct tamis_key next = key_at(n, buffer);
    size_t size;
    uint8_t *image = test_image(f, &size);
    if (tamis_copy(&copy, f) || tamis_load_with(&loaded, image, size, &options)) abort();
    if (!what && (tamis_add(copy, next.bytes, next.len) != TAMIS_TOO_LARGE ||
                  tamis_add(loaded, next.bytes, next.len) != TAMIS_TOO_LARGE))
        what = "a copy, or what was saved and loaded, knows no limit";
    free(image);
    tamis_free(loaded);
    tamis_free(copy);
    tamis_free(f);
    return what;
}

/* What is built once grows by merging. */
static const char *merging_has_a_limit(const subject *s) {
    enum { FEW = 2000, ALL = 20000 };
    struct tamis_options options = *secret_options(s->options);
    tamis *small = filled(s, ALL, 0.01, NULL, 0, FEW), *f;
    tamis *large = filled(s, ALL, 0.01, NULL, FEW, ALL);
    const char *what = NULL;
    size_t size;
    uint8_t *image = test_image(small, &size);
    tamis_payload(small, &options.max_bytes);
    if (tamis_load_with(&f, image, size, &options)) abort();
    if (tamis_merge(f, large) != TAMIS_TOO_LARGE)
        what = "a merge knows no limit";
    else if (!same_payload(f, small) || count_keys(f, 0, FEW) != FEW)
        what = "a merge that was refused has changed it";
    free(image);
    tamis_free(f);
    tamis_free(small);
    tamis_free(large);
    return what;
}

const law failure_laws[] = {
    {"out_of_memory_is_safe", 0, out_of_memory_is_safe, 0},
    {"failure_changes_nothing", TAMIS_CAN_ADD, failure_changes_nothing, 0},
    {"growth_keeps_keys", TAMIS_CAN_ADD | TAMIS_CAN_GROW, growth_keeps_keys, 0},
    {"limit_holds", 0, limit_holds, 0},
    {"growth_has_a_limit", TAMIS_CAN_ADD | TAMIS_CAN_GROW, growth_has_a_limit, 0},
    {"merging_has_a_limit", TAMIS_IS_BUILT | TAMIS_CAN_MERGE, merging_has_a_limit, 0},
    {NULL, 0, NULL, 0},
};
