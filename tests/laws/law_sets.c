/* SPDX-License-Identifier: MIT */
/* Laws about whole filters: union, intersection, folding, and mismatches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/kind.h"
#include "tests/laws/laws.h"
#include "tests/support/bounds.h"

enum { N = 4000 };

/* Built filters count what they list: keys that they cannot distinguish are one. */
static bool items_add_up(const subject *s, uint64_t merged, uint64_t both) {
    if (!(s->can & TAMIS_IS_BUILT)) return merged == both;
    return merged <= both && is_rare(both - merged, both, 0.01);
}

/* Union is the filter of all adds: bit for bit where their order does not matter, and in any case
 * with every key of both. Built filters have each key once. */
static const char *merge_is_union(const subject *s) {
    const bool is_built = s->can & TAMIS_IS_BUILT;
    tamis *a = filled(s, 2 * N, 0.01, NULL, 0, 2500), *b = filled(s, 2 * N, 0.01, NULL, 2000, N);
    tamis *both = filled(s, 2 * N, 0.01, NULL, 0, is_built ? N : 2500), *once = NULL;
    const char *what = NULL;
    if (!is_built) add_keys(both, 2000, N);
    if (tamis_mismatch(a, b)) what = "two of one spec do not match";
    if (tamis_merge(a, b)) what = wrong("%s", tamis_why());
    if (!what && count_keys(a, 0, N) != N) what = "the union lacks keys";
    if (!what && s->can & (TAMIS_ANY_ORDER | TAMIS_IS_BUILT) && !same_payload(a, both))
        what = "the union is not the filter of all adds";
    if (!what && !items_add_up(s, test_info(a).items, test_info(both).items))
        what = "items do not add up";
    if (tamis_copy(&once, a)) abort();
    if (!what && s->can & (TAMIS_ADDS_ONCE | TAMIS_IS_BUILT) &&
        (tamis_merge(a, a) || !same_answers(a, once, 0, 9000)))
        what = "union with itself changes";
    tamis_free(once);
    tamis_free(a);
    tamis_free(b);
    tamis_free(both);
    return what;
}

/* Common keys are kept, and nothing is added that one of them did not have. */
static const char *intersection_keeps_common(const subject *s) {
    tamis *a = make(s, N, 0.01, NULL), *b, *old;
    const char *what = NULL;
    if (tamis_copy(&b, a)) abort();
    add_keys(a, 0, 3000);
    add_keys(b, 2000, N);
    if (tamis_copy(&old, a)) abort();
    if (tamis_intersect(a, b)) what = wrong("%s", tamis_why());
    if (!what && count_keys(a, 2000, 3000) != 1000) what = "common keys are lost";
    for (uint64_t i = 0; i < 20000 && !what; i++)
        if (count_keys(a, i, i + 1) && (!count_keys(old, i, i + 1) || !count_keys(b, i, i + 1)))
            what = wrong("key %llu is in the intersection, not in both", (unsigned long long)i);
    tamis_free(a);
    tamis_free(b);
    tamis_free(old);
    return what;
}

/* The number of keys is reported within the error, or reported as unknown: also of a copy, of an
 * image, and of a union with an intersection. */
static const char *tells_keys(const tamis *f, double keys) {
    struct tamis_estimate items;
    const struct tamis_info info = test_info(f);
    const bool has_caveat = *info.caveat;
    if (info.has_stray_bits != has_caveat) return "stray bits without a caveat";
    if (tamis_items_now(f, &items)) return has_caveat ? NULL : wrong("%s", tamis_why());
    if (has_caveat || fabs(items.value - keys) <= 6 * items.error + 1e-6) return NULL;
    return wrong("%g keys are reported as %g +- %g", keys, items.value, items.error);
}

static const char *tells_keys_anywhere(const tamis *f, tamis *empty, double keys) {
    size_t size;
    uint8_t *image = test_image(f, &size);
    tamis *copy = test_copy(f), *loaded;
    if (tamis_load(&loaded, image, size)) abort();
    const char *what = tells_keys(f, keys);
    if (!what) what = tells_keys(copy, keys);
    if (!what) what = tells_keys(loaded, keys);
    if (!what && tamis_merge(empty, f) == TAMIS_OK) what = tells_keys(empty, keys);
    free(image);
    tamis_free(copy);
    tamis_free(loaded);
    return what;
}

static const char *intersection_tells_its_keys(const subject *s) {
    tamis *a = filled(s, N, 0.01, NULL, 1, 3001), *b = filled(s, N, 0.01, NULL, 2001, N);
    tamis *empty = filled(s, N, 0.01, NULL, 0, 0), *same = test_copy(a);
    const char *what = tells_keys(a, 3000);
    if (tamis_intersect(same, a)) what = wrong("%s", tamis_why());
    if (!what && test_info(same).has_stray_bits) what = "intersecting with itself changes it";
    if (tamis_intersect(a, b)) what = wrong("%s", tamis_why());
    if (!what) what = tells_keys_anywhere(a, empty, 1000);
    tamis_free(a);
    tamis_free(b);
    tamis_free(empty);
    tamis_free(same);
    return what;
}

/* A filter of 2^16 bits, which every power of two up to 64 divides into whole words and blocks. */
static tamis *make_foldable(const subject *s) {
    char spec[128];
    tamis *f;
    snprintf(spec, sizeof spec, "%s:capacity=%d,bits=65536%s", s->kind.name, N, s->options);
    if (tamis_create(&f, spec)) abort();
    return f;
}

/* An option may set another size, too small to fold as often as here. */
static bool takes_size(const subject *s) {
    tamis *f = make_foldable(s);
    const bool is_that_size = test_info(f).payload_bytes * 8 >= 65536 / 2;
    tamis_free(f);
    return is_that_size;
}

/* Folding after adding equals adding after folding: no key is lost, now or later. */
static const char *fold_keeps_keys(const subject *s) {
    const char *what = NULL;
    if (!takes_size(s)) return NULL;
    for (uint64_t by = 1; by <= 64 && !what; by *= 2) {
        tamis *before = make_foldable(s), *after;
        if (tamis_copy(&after, before)) abort();
        add_keys(after, 0, N);
        if (tamis_fold(before, by) || tamis_fold(after, by)) {
            what = wrong("folding by %llu: %s", (unsigned long long)by, tamis_why());
        } else {
            add_keys(before, 0, N);
            if (count_keys(after, 0, N) != N)
                what = wrong("folding by %llu loses keys", (unsigned long long)by);
            else if (!same_payload(before, after))
                what = wrong("folding by %llu is not adding after it", (unsigned long long)by);
        }
        tamis_free(before);
        tamis_free(after);
    }
    tamis *f = make_foldable(s);
    uint64_t odd = 3;
    while (test_info(f).payload_bytes % odd == 0) odd += 2;
    if (tamis_fold(f, 0) != TAMIS_INVALID || tamis_fold(f, odd) != TAMIS_INVALID ||
        tamis_fold(f, UINT64_MAX) != TAMIS_INVALID)
        what = "folding by 0, by what does not divide, or by 2^64-1 is not refused";
    tamis_free(f);
    return what;
}

/* Where an option sets the size of a filter, capacity does not. */
static bool has_one_size(const subject *s) {
    struct tamis_plan small = TAMIS_PLAN_INIT, large = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec_of(s, N, 0.01, NULL), &small) ||
        tamis_plan_spec(spec_of(s, 2 * N, 0.01, NULL), &large))
        abort();
    return memcmp(small.word, large.word, sizeof small.word) == 0;
}

/* Capacity affects nothing that must match in built filters; segment sizes do. NULL for a subject
 * that is about segment sizes, and for kinds of other systems, which are in one piece. */
static tamis *another_shape(const subject *s) {
    if (!(s->can & TAMIS_IS_BUILT)) return has_one_size(s) ? NULL : make(s, 2 * N, 0.01, NULL);
    if (strstr(s->options, "segment=") || s->can & TAMIS_OWN_HASH) return NULL;
    return filled(s, N, 0.01, ",segment=2048", 0, 100);
}

/* Any secret, from the system. */
static tamis *another_secret(const subject *s) {
    const struct tamis_builder_options options = {.struct_size = sizeof options};
    intake in = open_builder(s, spec_of(s, N, 0.01, NULL), &options);
    return taken(&in);
}

/* ---- Similarity ----------------------------------------------------------------------------- */

/* Symmetric, and within six of its own errors of the truth. */
static const char *is_similar(const tamis *a, const tamis *b, double truth) {
    struct tamis_estimate j, back;
    if (tamis_similarity(a, b, &j) || tamis_similarity(b, a, &back))
        return wrong("%s", tamis_why());
    if (j.value != back.value || j.error != back.error) return "similarity is not symmetric";
    if (!(j.value >= 0 && j.value <= 1 && j.error >= 0)) return "a similarity is not from 0 to 1";
    if (fabs(j.value - truth) > 6 * j.error + 1e-6)
        return wrong("similarity %g is reported as %g +- %g", truth, j.value, j.error);
    return NULL;
}

/* A set is similar to itself, and to another by what they share; also sets of few keys, and none.
 * The shortest key is left out: where others hash it to 0, it has fewer bits than a key should. */
static const char *similarity_is_sound(const subject *s) {
    static const uint64_t sizes[] = {1, 2, 30, 300, N};
    tamis *nothing = filled(s, N, 0.01, NULL, 0, 0);
    const char *what = is_similar(nothing, nothing, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !what; i++) {
        const uint64_t n = sizes[i];
        tamis *a = filled(s, N, 0.01, NULL, 1, 1 + n), *same = filled(s, N, 0.01, NULL, 1, 1 + n);
        tamis *other = filled(s, N, 0.01, NULL, 1 + n, 1 + 2 * n);
        tamis *half = filled(s, N, 0.01, NULL, 1 + n / 2, 1 + n + n / 2);
        struct tamis_estimate j;
        what = is_similar(a, same, 1);
        if (!what && !tamis_similarity(a, same, &j) && j.value != 1) what = "a set is not itself";
        if (!what) what = is_similar(a, other, 0);
        if (!what) what = is_similar(a, nothing, 0);
        if (!what) what = is_similar(a, half, (double)(n - n / 2) / (double)(n + n / 2));
        tamis_free(a);
        tamis_free(same);
        tamis_free(other);
        tamis_free(half);
    }
    tamis_free(nothing);
    return what;
}

/* ---- Two sizes ------------------------------------------------------------------------------ */

/* Joined, the two have every key, in either order the same bytes where order does not matter, and
 * the reported rate; or the message says what to do. */
static const char *sizes_join(const subject *s, uint64_t first, uint64_t second) {
    enum { PROBES = 20000 };
    tamis *a = filled(s, first, 0.01, NULL, 0, first), *b = NULL, *c = NULL, *d = NULL;
    b = filled(s, second, 0.01, NULL, first, first + second);
    const uint64_t both = first + second, items = test_info(a).items + test_info(b).items;
    const char *what = NULL;
    char said[200];
    if (tamis_copy(&c, a) || tamis_copy(&d, b)) abort();
    const tamis_status rc = tamis_merge(a, b), back = tamis_merge(d, c);
    if (rc != back) what = "one order is joined and the other is not";
    if (rc && rc != TAMIS_MISMATCH && rc != TAMIS_FULL) what = wrong("%s", tamis_why());
    if (rc == TAMIS_MISMATCH && !strstr(tamis_why(), "same capacity")) what = "no remedy named";
    if (rc && !what && !same_payload(a, c)) what = "a refused merge changed the filter";
    if (!rc && !what && count_keys(a, 0, both) != both) what = "the union lacks keys";
    if (!rc && !what && s->can & TAMIS_ANY_ORDER && !same_payload(a, d)) what = "order matters";
    if (!rc && !what && test_info(a).items != items) what = "items do not add up";
    if (!rc && !what && s->can & TAMIS_ANY_ORDER && s->can & TAMIS_CAN_INTERSECT && both > 500) {
        what = tells_keys(a, (double)both);
        const uint64_t hits = count_keys(a, both, both + PROBES);
        const double rate = tamis_fpr_now(a);
        if (!what && !test_is_possible(hits, PROBES, rate, TEST_ALPHA))
            what = wrong("%llu hits, not %g", (unsigned long long)hits, rate * PROBES);
    }
    if (what) {
        snprintf(said, sizeof said, "%s", what);
        what = wrong("%s: %llu and %llu keys", said, (unsigned long long)first,
                     (unsigned long long)second);
    }
    tamis_free(a), tamis_free(b), tamis_free(c), tamis_free(d);
    return what;
}

static const char *any_two_sizes_join(const subject *s) {
    static const uint64_t large[] = {1000, 1999, 4000};
    const char *what = NULL;
    if (has_one_size(s) || needs_capacity(s)) return NULL;
    for (uint64_t i = 1; i <= 64 && !what; i += 21)
        for (uint64_t j = 1; j <= 64 && !what; j += 20) what = sizes_join(s, i, j);
    for (int i = 0; i < 3 && !what; i++)
        for (int j = 0; j < i && !what; j++) what = sizes_join(s, large[i], large[j]);
    return what;
}

/* ---- Mismatches ----------------------------------------------------------------------------- */

/* Every difference is refused, named, and changes nothing. */
static const char *mismatch_refused(const subject *s) {
    const bool is_own = s->can & TAMIS_OWN_HASH;
    const bool is_sip = strstr(s->options, "sip13") != NULL;
    static const char *const others[] = {"blocked:capacity=5000", "classic:capacity=5000",
                                         "template:capacity=5000"};
    tamis *a = filled(s, N, 0.01, NULL, 0, 100), *old, *b[5] = {0};
    const char *what = NULL;
    size_t count = 0;
    if (tamis_copy(&old, a)) abort();
    b[count] = another_shape(s);
    count += b[count] != NULL;
    if (is_sip) b[count++] = another_secret(s);
    if (!is_own && !is_sip) b[count++] = filled(s, N, 0.01, ",seed=1", 0, 0);
    for (size_t i = 0; i < 3; i++) {
        const size_t len = strcspn(others[i], ":");
        const bool is_other = strncmp(others[i], s->kind.name, strlen(s->kind.name)) != 0;
        if (is_other && tamis__kind_by_name(others[i], len)) /* a small build may not have it */
            if (tamis_create(&b[count++], others[i])) abort();
    }
    const bool is_cut = s->can & TAMIS_IS_BUILT && s->can & TAMIS_CAN_MERGE && !is_own;
    for (size_t i = 0; i < count && !what; i++) {
        /* See cut_otherwise_it_merges and any_two_sizes_join. */
        const bool may_merge = i == 0 && b[0] && (is_cut || s->can & TAMIS_CAN_FOLD);
        struct tamis_estimate estimate;
        if (!tamis_mismatch(a, b[i])) what = wrong("difference %zu is not seen", i);
        if (!may_merge && tamis_merge(a, b[i]) == TAMIS_OK)
            what = wrong("difference %zu is merged", i);
        if (tamis_intersect(a, b[i]) == TAMIS_OK) what = wrong("difference %zu is intersected", i);
        if (tamis_overlap(a, b[i], &estimate) != TAMIS_MISMATCH)
            what = wrong("difference %zu is compared", i);
        if (!same_payload(a, old)) what = "a refused merge changed the filter";
    }
    for (size_t i = 0; i < count; i++) tamis_free(b[i]);
    tamis_free(a);
    tamis_free(old);
    return what;
}

const law set_laws[] = {
    {"merge_is_union", TAMIS_CAN_MERGE, merge_is_union, 0},
    {"intersection_keeps_common", TAMIS_CAN_ADD | TAMIS_CAN_INTERSECT, intersection_keeps_common,
     0},
    {"intersection_tells_its_keys", TAMIS_CAN_ADD | TAMIS_CAN_INTERSECT,
     intersection_tells_its_keys, 0},
    {"fold_keeps_keys", TAMIS_CAN_ADD | TAMIS_CAN_FOLD, fold_keeps_keys, 0},
    {"any_two_sizes_join", TAMIS_CAN_ADD | TAMIS_CAN_MERGE, any_two_sizes_join,
     TAMIS_AGES | TAMIS_IS_SKETCH},
    {"similarity_is_sound", TAMIS_CAN_MERGE, similarity_is_sound, TAMIS_AGES},
    {"mismatch_refused", 0, mismatch_refused, 0},
    {NULL, 0, NULL, 0},
};
