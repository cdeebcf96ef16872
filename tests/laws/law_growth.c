/* SPDX-License-Identifier: MIT */
/* Laws about filters with more keys than planned: their rate, their estimates and their unions, in
 * whatever order the keys came. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tests/laws/laws.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"

enum { FIRST = 200, TIMES = 200, MAX = FIRST * TIMES, PROBES = 20000 };
static const double asked = 0.02;

/* ---- Orders and ways ------------------------------------------------------------------------ */

/* Keys are the hashes of numbers, or the numbers themselves where a kind hashes its own way. */
typedef struct keys {
    uint64_t *key;
    uint64_t n;
    bool is_own;
} keys;

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_value_down(const void *a, const void *b) {
    return by_value(b, a);
}

typedef enum order { IN_SEQUENCE, AT_RANDOM, ASCENDING, DESCENDING, ORDERS } order;
static const char *const order_names[] = {"in sequence", "at random", "ascending", "descending"};

static keys keys_of(const tamis *f, uint64_t from, uint64_t to, order o) {
    keys k = {.n = to - from, .is_own = test_info(f).abilities & TAMIS_OWN_HASH};
    k.key = malloc((size_t)k.n * sizeof *k.key);
    for (uint64_t i = 0; i < k.n; i++) {
        const uint64_t number = o == AT_RANDOM ? test_number(51, from + i) : from + i;
        k.key[i] = k.is_own ? number : tamis_hash(f, &number, sizeof number);
    }
    if (o == ASCENDING) qsort(k.key, (size_t)k.n, sizeof *k.key, by_value);
    if (o == DESCENDING) qsort(k.key, (size_t)k.n, sizeof *k.key, by_value_down);
    return k;
}

typedef enum way { ONE_BY_ONE, SOME, MANY, BUILT, WAYS } way;
static const char *const way_names[] = {"one by one", "some at a time", "all at once", "built"};

static tamis_status add_some(tamis *f, const keys *k, uint64_t at_once) {
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0, n; i < k->n && !rc; i += n) {
        n = k->n - i < at_once ? k->n - i : at_once;
        rc = (k->is_own ? tamis_add_u64s : tamis_add_hashes)(f, k->key + i, (size_t)n);
    }
    return rc;
}

static tamis_status build(const subject *s, const keys *k, tamis **f) {
    intake in = open_builder(s, spec_of(s, FIRST, asked, NULL), NULL);
    tamis_status rc = TAMIS_OK;
    for (uint64_t i = 0; i < k->n && !rc; i++)
        rc = k->is_own ? tamis_builder_add_u64(in.builder, k->key[i])
                       : tamis_builder_add_hash(in.builder, k->key[i]);
    if (!rc) rc = tamis_builder_finish(in.builder, f);
    tamis_builder_free(in.builder);
    return rc;
}

static tamis_status fill(const subject *s, const keys *k, way w, tamis **f) {
    static const uint64_t at_once[] = {[ONE_BY_ONE] = 1, [SOME] = 999, [MANY] = MAX};
    if (w == BUILT) return build(s, k, f);
    *f = make(s, FIRST, asked, NULL);
    return add_some(*f, k, at_once[w]);
}

/* What went wrong, and in which case. */
static const char *in_case(const char *what, const char *format, ...) {
    char said[128], where[128];
    va_list list;
    snprintf(said, sizeof said, "%s", what);
    va_start(list, format);
    vsnprintf(where, sizeof where, format, list);
    va_end(list);
    return wrong("%s: %s", where, said);
}

/* ---- What must hold ------------------------------------------------------------------------- */

static uint64_t hits_among(const tamis *f, uint64_t from, uint64_t n, bool is_own) {
    uint64_t hits = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t number = test_number(52, TEST_STRANGERS + from + i);
        hits += is_own ? tamis_has_u64(f, number) : tamis_has_hash(f, number);
    }
    return hits;
}

/* A stage of few keys varies from set to set: allows six errors of as many keys as the first
 * takes. */
static const char *keeps_rate(const tamis *f, const keys *k) {
    const double now = tamis_fpr_now(f);
    if (now > asked * (1 + 6 / sqrt(FIRST)))
        return wrong("%g was asked, and it says %g", asked, now);
    const uint64_t probes = effort(PROBES), hits = hits_among(f, 0, probes, k->is_own);
    if (!test_is_possible(hits, probes, now, TEST_ALPHA))
        return wrong("%llu of %llu strangers, it says %g", (unsigned long long)hits,
                     (unsigned long long)probes, now);
    return NULL;
}

static const char *has_all(const tamis *f, const keys *k) {
    for (uint64_t i = 0; i < k->n; i++)
        if (!(k->is_own ? tamis_has_u64 : tamis_has_hash)(f, k->key[i])) return "a key is lost";
    return NULL;
}

/* Within six of its own errors, or refused with a message. */
static const char *is_true(tamis_status rc, const char *what, double truth,
                           const struct tamis_estimate *e) {
    if (rc) return *tamis_why() ? NULL : wrong("%s: refused without a word", what);
    if (fabs(e->value - truth) <= 6 * e->error + 1e-6 * truth) return NULL;
    return wrong("%s: %g are told as %g +- %g", what, truth, e->value, e->error);
}

static const char *counts(const tamis *f, uint64_t keys_in) {
    struct tamis_estimate items = {0, 0};
    const tamis_status rc = tamis_items_now(f, &items);
    return is_true(rc, "distinct keys", (double)keys_in, &items);
}

/* ---- The rate in any order ------------------------------------------------------------------ */

static const char *holds(const subject *s, order o, way w, uint64_t n) {
    tamis *f = make(s, FIRST, asked, NULL), *full = NULL;
    const keys k = keys_of(f, 0, n, o);
    const char *what = fill(s, &k, w, &full) ? tamis_why() : NULL;
    if (!what) what = has_all(full, &k);
    if (!what) what = keeps_rate(full, &k);
    if (!what) what = counts(full, n);
    tamis_free(f);
    tamis_free(full);
    free(k.key);
    return what;
}

/* A growing filter has the rate that was requested and reported, and knows how many keys it has,
 * whatever the order of the keys and the calls that added them, at any size. */
static const char *growth_in_any_order(const subject *s) {
    static const uint64_t sizes[] = {FIRST, 10 * FIRST, MAX};
    for (int o = 0; o < (s->can & TAMIS_OWN_HASH ? ASCENDING : ORDERS); o++)
        for (int w = 0; w < WAYS; w++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                const char *what = holds(s, o, w, sizes[i]);
                if (what)
                    return in_case(what, "%llu keys %s, %s", (unsigned long long)sizes[i],
                                   order_names[o], way_names[w]);
            }
    return NULL;
}

/* ---- The lowest rate ------------------------------------------------------------------------ */

/* The lowest rate that can be planned for `capacity` keys, within a thousandth. */
static double lowest_rate(const subject *s, uint64_t capacity) {
    double low = 1e-12, high = asked;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (!tamis_plan_spec(spec_of(s, capacity, low, NULL), &plan)) return low;
    while (high > low * 1.001) {
        const double middle = sqrt(low * high);
        *(tamis_plan_spec(spec_of(s, capacity, middle, NULL), &plan) ? &low : &high) = middle;
    }
    return high;
}

/* Stages become stricter as they come. A filter made at a rate that later stages cannot have must
 * still grow, or it should not have been made. */
static const char *grows_at_its_lowest_rate(const subject *s) {
    static const uint64_t capacities[] = {1, FIRST};
    const char *what = NULL;
    for (size_t i = 0; i < 2 && !what; i++) {
        const double rate = lowest_rate(s, capacities[i]);
        tamis *f = make(s, capacities[i], rate, NULL);
        const keys k = keys_of(f, 0, capacities[i] * TIMES, AT_RANDOM);
        if (add_some(f, &k, 999)) what = tamis_why();
        if (!what) what = has_all(f, &k);
        if (what) what = in_case(what, "%g for %llu keys", rate, (unsigned long long)capacities[i]);
        tamis_free(f);
        free(k.key);
    }
    return what;
}

/* ---- Unions and overlaps -------------------------------------------------------------------- */

/* Two sets with `common` keys first, then `own` keys each; or, in one of them or in both, these
 * before the common ones. The second may lack some of its own, and have grown less. */
typedef struct pair {
    uint64_t common, own;
    bool is_common_first[2], are_copies;
    uint64_t lacks;
} pair;

static uint64_t all_keys(const pair *p) {
    return p->common + 2 * p->own - p->lacks;
}

static tamis_status fill_pair(tamis *a, tamis **b, const pair *p) {
    const keys common = keys_of(a, 0, p->common, AT_RANDOM);
    const keys first = keys_of(a, MAX, MAX + p->own, AT_RANDOM);
    const keys second = keys_of(a, 2 * MAX, 2 * MAX + p->own - p->lacks, AT_RANDOM);
    const keys *early[2] = {&first, &second}, *late[2] = {&common, &common};
    for (int i = 0; i < 2; i++) {
        if (!p->is_common_first[i]) continue;
        const keys *swap = early[i];
        early[i] = late[i];
        late[i] = swap;
    }
    tamis_status rc = add_some(a, early[0], 999);
    if (!rc && p->are_copies) {
        tamis_free(*b);
        *b = test_copy(a);
    } else if (!rc) {
        rc = add_some(*b, early[1], 999);
    }
    if (!rc) rc = add_some(a, late[0], 999);
    if (!rc) rc = add_some(*b, late[1], 999);
    free(common.key);
    free(first.key);
    free(second.key);
    return rc;
}

static const char *overlap_is_true(const tamis *a, const tamis *b, const pair *p) {
    struct tamis_estimate common = {0, 0}, jaccard = {0, 0};
    tamis_status rc = tamis_overlap(a, b, &common);
    const char *what = is_true(rc, "common keys", (double)p->common, &common);
    if (what) return what;
    rc = tamis_similarity(a, b, &jaccard);
    return is_true(rc, "similarity", (double)p->common / (double)all_keys(p), &jaccard);
}

/* Every key, the rate and the number of keys; or nothing has changed. */
static const char *union_is_true(tamis *a, const tamis *b, const pair *p) {
    tamis *before = test_copy(a);
    const tamis_status rc = tamis_merge(a, b);
    const char *what = NULL;
    if (rc) {
        if (!*tamis_why()) what = "refused without a word";
        if (!same_payload(a, before)) what = "a union that was refused changed the filter";
    } else {
        const keys all[] = {keys_of(a, 0, p->common, AT_RANDOM),
                            keys_of(a, MAX, MAX + p->own, AT_RANDOM),
                            keys_of(a, 2 * MAX, 2 * MAX + p->own - p->lacks, AT_RANDOM)};
        for (size_t i = 0; i < 3; i++) {
            if (!what) what = has_all(a, &all[i]);
            if (!what && i == 2) what = keeps_rate(a, &all[i]);
            free(all[i].key);
        }
        if (!what) what = counts(a, all_keys(p));
    }
    tamis_free(before);
    return what;
}

static const pair pairs[] = {
    {FIRST / 5, FIRST / 5, {true, true}, false, 0},
    {FIRST / 2, FIRST / 2, {false, false}, false, 0},
    {2 * FIRST, 2 * FIRST, {true, true}, false, 0},
    {2 * FIRST, 2 * FIRST, {false, false}, false, 0},
    {2 * FIRST, 2 * FIRST, {true, false}, false, 0},
    {5 * FIRST / 2, FIRST / 5, {true, true}, true, 0},
    {20 * FIRST, FIRST, {true, true}, true, 0},
    {20 * FIRST, 20 * FIRST, {false, false}, false, 0},
    {20 * FIRST, 20 * FIRST, {false, true}, false, 0},
    {5 * FIRST / 2, 20 * FIRST, {true, true}, true, 20 * FIRST},
    {FIRST / 2, 20 * FIRST, {true, true}, true, 20 * FIRST - FIRST / 20},
    {0, 20 * FIRST, {true, true}, false, 19 * FIRST},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* The overlap of two filters is reported truly or not at all: also when both have far more keys
 * than planned, when a key came early to one and late to the other, and when one is a copy of the
 * other. Filters that are full earlier are not compared. */
static const char *overlap_past_capacity(const subject *s) {
    const char *what = NULL;
    for (size_t i = 0; i < PAIRS && !what; i++) {
        tamis *a = make(s, FIRST, asked, NULL), *b = make(s, FIRST, asked, NULL);
        if (!fill_pair(a, &b, &pairs[i])) what = overlap_is_true(a, b, &pairs[i]);
        if (what) what = in_case(what, "pair %zu", i);
        tamis_free(a);
        tamis_free(b);
    }
    return what;
}

/* The union with an earlier self, which lacks only what came since, works for all kinds: it adds
 * nothing to the later one. */
static const char *earlier_self_is_joined(tamis *late, const tamis *early) {
    tamis *sum = test_copy(early);
    const char *what = tamis_merge(sum, late) ? tamis_why() : NULL;
    if (!what && tamis_fpr_now(sum) != tamis_fpr_now(late))
        what = "its rate is not the later one's";
    if (!what && tamis_merge(late, early)) what = tamis_why();
    tamis_free(sum);
    return what;
}

/* The union of two that grew, also one more than the other, keeps the rate, or is refused. */
static const char *unions_of_grown_are_true(const subject *s) {
    const char *what = NULL;
    for (size_t i = 0; i < 2 * PAIRS && !what; i++) {
        const pair *p = &pairs[i / 2];
        tamis *a = make(s, FIRST, asked, NULL), *b = make(s, FIRST, asked, NULL);
        what = fill_pair(a, &b, p) ? tamis_why() : NULL;
        if (!what && p->are_copies && p->lacks == p->own) what = earlier_self_is_joined(a, b);
        if (!what) what = i % 2 ? union_is_true(b, a, p) : union_is_true(a, b, p);
        if (what) what = in_case(what, "pair %zu", i / 2);
        tamis_free(a);
        tamis_free(b);
    }
    return what;
}

const law growth_laws[] = {
    {"growth_in_any_order", TAMIS_CAN_ADD | TAMIS_CAN_GROW, growth_in_any_order, 0},
    {"grows_at_its_lowest_rate", TAMIS_CAN_ADD | TAMIS_CAN_GROW, grows_at_its_lowest_rate, 0},
    {"overlap_past_capacity", TAMIS_CAN_ADD | TAMIS_CAN_MERGE, overlap_past_capacity, TAMIS_AGES},
    {"unions_of_grown_are_true", TAMIS_CAN_ADD | TAMIS_CAN_GROW | TAMIS_CAN_MERGE,
     unions_of_grown_are_true, 0},
    {NULL, 0, NULL, 0},
};
