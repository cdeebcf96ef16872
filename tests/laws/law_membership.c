/* SPDX-License-Identifier: MIT */
/* Laws about answers: members are found, non-members as often as promised. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "kinds/kind.h"
#include "tamis_engine.h"
#include "tamis_inline.h"
#include "tests/laws/laws.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

/* Promise number one, at every size, also far beyond capacity where the kind takes more. */
static const char *no_false_negative(const subject *s) {
    static const uint64_t sizes[] = {0, 1, 2, 100, 10000, 50000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t overload = 1; overload <= 3; overload += 2) {
            intake in = open_intake(s, sizes[i], 0.01, NULL);
            const uint64_t n = take_in_keys(&in, 0, sizes[i] * overload);
            tamis *f = taken(&in);
            const uint64_t found = count_keys(f, 0, n);
            tamis_free(f);
            if (n < sizes[i])
                return wrong("full after %llu of %llu keys", (unsigned long long)n,
                             (unsigned long long)sizes[i]);
            if (found != n)
                return wrong("%llu of %llu keys are missing", (unsigned long long)(n - found),
                             (unsigned long long)n);
        }
    return NULL;
}

/* An empty filter knows that it is empty. Those of some other systems do not, and answer as they do
 * there; then the rate shows it. */
static const char *empty_has_nothing(const subject *s) {
    for (uint64_t capacity = 0; capacity <= 1000; capacity += 500) {
        tamis *f = filled(s, capacity, 0.01, NULL, 0, 0);
        const uint64_t found = count_keys(f, 0, 10000);
        const double rate = tamis_fpr_now(f);
        tamis_free(f);
        if (is_foreign(s) && rate > 0 && test_is_possible(found, 10000, rate, TEST_ALPHA)) continue;
        if (found || rate > 0)
            return wrong("an empty filter has %llu keys", (unsigned long long)found);
    }
    return NULL;
}

/* Hits among non-members match the bits (given the fill, every probe is a fair draw), and the bits
 * match the formula, over several filters. Two-sided: too few is as wrong. Where old keys expire,
 * the formula is about the worst moment, and only that bound is checked here. */
enum { FILTERS = 8, PER_FILTER = 250000, KEYS = 10000 };

static tamis *filled_with_numbers(const subject *s, double fpr, const char *more, uint64_t family) {
    intake in = open_intake(s, KEYS, fpr, more);
    for (uint64_t k = 0; k < KEYS; k++) {
        uint8_t key[8];
        tamis__put64(key, test_number(family, k));
        take_in(&in, key, sizeof key);
    }
    return taken(&in);
}

/* In batches, which equal the answers one by one: batch_equals_single. */
static uint64_t count_nonmembers(const tamis *f, uint64_t family, uint64_t n) {
    enum { AT_ONCE = 1000 };
    uint64_t keys[AT_ONCE], hits = 0;
    uint8_t hit[AT_ONCE];
    for (uint64_t done = 0, now; done < n; done += now) {
        now = n - done < AT_ONCE ? n - done : AT_ONCE;
        for (uint64_t i = 0; i < now; i++) keys[i] = test_number(family, TEST_STRANGERS + done + i);
        tamis_has_u64s(f, keys, (size_t)now, hit);
        for (uint64_t i = 0; i < now; i++) hits += hit[i];
    }
    return hits;
}

static const char *rate_at(const subject *s, double fpr) {
    const bool is_sip = strstr(s->options, "sip13") != NULL;
    const uint64_t probes = effort(PER_FILTER);
    double sum = 0, squares = 0, expected = 0;
    uint64_t hits = 0;
    for (int i = 0; i < FILTERS; i++) {
        /* Other keys for every filter; kinds may plan for the seed, so it changes too. */
        char seed[32] = "";
        if (!is_sip && !(s->can & TAMIS_OWN_HASH)) sprintf(seed, ",seed=%d", i);
        tamis *f = filled_with_numbers(s, fpr, seed, (uint64_t)i);
        struct tamis_plan plan = TAMIS_PLAN_INIT;
        if (tamis_plan_spec(spec_of(s, KEYS, fpr, seed), &plan)) abort();
        hits += count_nonmembers(f, (uint64_t)i, probes);
        const double now = tamis_fpr_now(f);
        sum += now;
        squares += now * now;
        expected = plan.fpr_expected;
        tamis_free(f);
    }
    const double mean = sum / FILTERS;
    if (!test_is_possible(hits, FILTERS * probes, mean, TEST_ALPHA))
        return wrong("fpr=%g: %llu hits of %llu, the fill says %.6g", fpr, (unsigned long long)hits,
                     (unsigned long long)(FILTERS * probes), mean);
    /* Eight filters give only a rough spread, so the band is wide: six errors of the mean, and a
     * hundredth for second-order formulas. Equal hashes do not show in the bits. */
    const double spread = sqrt(fmax(0, squares / FILTERS - mean * mean) / (FILTERS - 1));
    const double same_hash = KEYS / 18446744073709551616.0;
    const double off = s->can & TAMIS_AGES ? mean - expected : fabs(mean - expected);
    if (off > 6 * spread + 0.01 * expected + same_hash)
        return wrong("fpr=%g: the fill says %.6g, the formula %.6g", fpr, mean, expected);
    return NULL;
}

static const char *rate_as_promised(const subject *s) {
    const char *what = rate_at(s, 0.1);
    if (!what) what = rate_at(s, 0.01);
    return what;
}

/* The batch is an optimisation, not another filter. Sizes around groups and batches. */
enum { BATCH = 1031 };
static const size_t batch_sizes[] = {0, 1, 2, 31, 63, 64, 65, 255, 256, 257, BATCH};
enum { BATCHES = sizeof batch_sizes / sizeof *batch_sizes };

static const char *asked_at_once(const tamis *f, bool is_own, size_t n) {
    static char buffer[BATCH][32];
    static struct tamis_key keys[BATCH];
    static uint64_t hashes[BATCH];
    static uint8_t hit[BATCH], hit_hash[BATCH];
    const char *what = NULL;
    for (size_t j = 0; j < n; j++) keys[j] = key_at(j, buffer[j]);
    for (size_t j = 0; j < n; j++) hashes[j] = tamis_hash(f, keys[j].bytes, keys[j].len);
    memset(hit, 7, sizeof hit);
    tamis_has_many(f, keys, n, hit);
    tamis_has_hashes(f, hashes, n, hit_hash);
    for (size_t j = 0; j < n && !what; j++) {
        const bool single = tamis_has(f, keys[j].bytes, keys[j].len);
        if (hit[j] != single) what = wrong("key %zu of %zu is answered otherwise", j, n);
        if (!is_own && hit_hash[j] != single) what = wrong("hash %zu of %zu likewise", j, n);
        if (!is_own && tamis_has_hash(f, hashes[j]) != single) what = "one hash likewise";
        if (is_own && (hit_hash[j] != 1 || !tamis_has_hash(f, hashes[j])))
            what = "a kind with its own hash must say maybe to hashes";
    }
    if (n < BATCH && hit[n] != 7) what = "the batch wrote past its answers";
    return what;
}

/* Every third key from `first`, one by one and at once. */
static const char *added_at_once(tamis *one, tamis *many, uint64_t first, size_t n) {
    static char buffer[BATCH][32];
    static struct tamis_key keys[BATCH];
    for (size_t j = 0; j < n; j++) keys[j] = key_at(j * 3 + first, buffer[j]);
    for (size_t j = 0; j < n; j++) tamis_add(one, keys[j].bytes, keys[j].len);
    if (tamis_add_many(many, keys, n)) abort();
    return same_payload(one, many) ? NULL : wrong("adding %zu at once gives other bytes", n);
}

/* By code inlined here, where the kind has a view for it. */
static const char *seen_inline(const tamis *f, const uint64_t *numbers, size_t n) {
    struct tamis_inline fast = TAMIS_INLINE_INIT;
    if (tamis_inline_view(f, &fast)) return NULL;
    for (size_t j = 0; j < n; j++) {
        const bool is_hit = tamis_has_u64(f, numbers[j]);
        if (tamis_inline_has_u64(&fast, numbers[j]) != is_hit)
            return wrong("integer %zu of %zu is answered otherwise inline", j, n);
        const uint64_t hash = tamis_inline_hash_u64(&fast, numbers[j]);
        if (tamis_inline_has_hash(&fast, hash) != is_hit) return "one hash likewise";
    }
    return NULL;
}

/* Integers as a list, of which the second half is added, one by one as their bytes, and as rows of
 * 8 bytes. */
static const char *numbers_at_once(tamis *one, tamis *many, bool is_built, size_t n) {
    static uint64_t numbers[BATCH];
    static uint8_t hit[BATCH], hit_row[BATCH], rows[BATCH][8];
    const char *what = NULL;
    for (size_t j = 0; j < n; j++) numbers[j] = test_number(n, j);
    for (size_t j = 0; j < n; j++) tamis__put64(rows[j], numbers[j]);
    if (!is_built) {
        for (size_t j = n / 2; j < n; j++) tamis_add_u64(one, numbers[j]);
        const size_t third = (n - n / 2) / 3; /* a part as rows, the rest as integers */
        if (tamis_add_packed(many, rows[n / 2], sizeof *rows, third)) abort();
        if (tamis_add_u64s(many, numbers + n / 2 + third, n - n / 2 - third)) abort();
        if (!same_payload(one, many)) return wrong("adding %zu integers gives other bytes", n);
    }
    memset(hit, 7, sizeof hit);
    tamis_has_u64s(one, numbers, n, hit);
    tamis_has_packed(one, rows, sizeof *rows, n, hit_row);
    for (size_t j = 0; j < n && !what; j++) {
        const bool single = tamis_has(one, rows[j], sizeof rows[j]);
        if (hit_row[j] != single) what = wrong("row %zu of %zu is answered otherwise", j, n);
        if (hit[j] != single) what = wrong("integer %zu of %zu is answered otherwise", j, n);
        if (tamis_has_u64(one, numbers[j]) != single) what = "one integer likewise";
    }
    if (!what) what = seen_inline(one, numbers, n);
    return n < BATCH && hit[n] != 7 ? "the list wrote past its answers" : what;
}

static const char *batch_equals_single(const subject *s) {
    const bool is_built = s->can & TAMIS_IS_BUILT, is_own = s->can & TAMIS_OWN_HASH;
    const char *what = NULL;
    tamis *one = filled(s, 4000, 0.05, "", BATCH / 2, BATCH / 2 + (is_built ? 4000 : 0)), *many;
    if (tamis_copy(&many, one)) abort(); /* the same secret, where there is one */
    for (size_t i = 0; i < BATCHES && !what; i++) {
        if (!is_built) what = added_at_once(one, many, i, batch_sizes[i]);
        if (!what) what = asked_at_once(one, is_own, batch_sizes[i]);
        if (!what) what = numbers_at_once(one, many, is_built, batch_sizes[i]);
    }
    tamis_free(one);
    tamis_free(many);
    return what;
}

/* In a filter of one key every set bit belongs to that key: clear any, and the key is gone, or the
 * gate sees the damage even with matching checksums. A probe that does nothing shows here at once,
 * but hardly in rates. */
static const char *every_bit_counts(const subject *s) {
    const char *what = NULL;
    for (uint64_t k = 1; k < 100 && !what; k++) {
        tamis *f = make(s, 20, 0.01, NULL), *g;
        add_keys(f, k, k + 1);
        size_t size;
        uint8_t *image = test_image(f, &size);
        tamis_free(f);
        for (size_t i = TEST_HEADER_BYTES * 8; i < size * 8 && !what; i++) {
            const uint8_t bit = (uint8_t)(1 << i % 8);
            if (!(image[i / 8] & bit)) continue;
            image[i / 8] ^= bit;
            test_reseal(image, size);
            if (tamis_load(&g, image, size) == TAMIS_OK) {
                if (count_keys(g, k, k + 1)) what = wrong("bit %zu of the image does not count", i);
                tamis_free(g);
            }
            image[i / 8] ^= bit;
        }
        free(image);
    }
    return what;
}

static const char *add_at_once(tamis *f, size_t n) {
    static char buffer[1000][32];
    static struct tamis_key keys[1000];
    for (uint64_t i = 0; i < n; i++) keys[i] = key_at(i, buffer[i]);
    return tamis_add_many(f, keys, n) ? tamis_why() : NULL;
}

/* Adding a key again changes no bit, one by one or all at once; a kind that grows may count it, but
 * does not grow for it, and no answer changes. */
static const char *duplicates_harmless(const subject *s) {
    tamis *f = make(s, 1000, 0.01, NULL), *g;
    add_keys(f, 0, 1000);
    if (tamis_copy(&g, f)) abort();
    add_keys(g, 0, 1000);
    add_keys(g, 5, 6);
    const char *what = add_at_once(g, 1000);
    if (!what && tamis_image_size(f) != tamis_image_size(g))
        what = "it has grown for keys that it had";
    if (!what && !(s->can & TAMIS_CAN_GROW) && !same_payload(f, g))
        what = "a second add changed the payload";
    for (uint64_t i = 0; i < 10000 && !what; i++)
        if (count_keys(f, i, i + 1) != count_keys(g, i, i + 1))
            what = "a second add changed an answer";
    tamis_free(f);
    tamis_free(g);
    return what;
}

/* The same set in any order is the same payload. */
static const char *any_order_same_bytes(const subject *s) {
    tamis *f = make(s, 3000, 0.01, NULL), *g;
    if (tamis_copy(&g, f)) abort();
    add_keys(f, 0, 3000);
    for (uint64_t i = 3000; i-- > 1500;) add_keys(g, i, i + 1);
    for (uint64_t i = 0; i < 1500; i++) add_keys(g, i * 7 % 1500, i * 7 % 1500 + 1);
    const char *what = same_payload(f, g) ? NULL : "another order gives other bytes";
    tamis_free(f);
    tamis_free(g);
    return what;
}

/* The size is as planned, and no more than requested. The size of a kind that is built is known
 * only with its keys: with some thousand the plan is right within a twentieth, apart from the cost
 * of every segment; with few, it is an upper bound. */
static bool size_is_as_planned(const subject *s, const struct tamis_plan *plan, uint64_t size) {
    enum { FEW = 1000, SEGMENT = 192 };
    const double planned = (double)plan->payload_bytes, has = (double)size;
    if (!(s->can & TAMIS_IS_BUILT)) return plan->payload_bytes == size;
    if (plan->capacity < FEW) return has <= 1.05 * planned + SEGMENT;
    return fabs(planned - has) <= 0.05 * has + SEGMENT;
}

/* Where an option sets the rate, the spec's does not count. */
static bool rate_is_fixed(const subject *s) {
    struct tamis_plan loose = TAMIS_PLAN_INIT, strict = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec_of(s, 1000, 0.3, NULL), &loose)) return false;
    if (tamis_plan_spec(spec_of(s, 1000, 1e-4, NULL), &strict)) return false;
    return loose.fpr_expected == strict.fpr_expected;
}

/* What a plan cannot know is given, or left out: the width of values, and a second label. */
static const char *told(const subject *s) {
    for (size_t i = 0; i < s->kind.option_count && s->can & TAMIS_IS_BUILT; i++)
        if (s->can & TAMIS_CAN_GET && strcmp(s->kind.options[i].name, "value") == 0 &&
            !strstr(s->options, "value="))
            return ",value=20";
    return NULL;
}

static bool words_are_as_planned(const subject *s, const struct tamis_plan *plan,
                                 const struct tamis_info *info) {
    const tamis_kind *kind = tamis__kind_by_name(s->kind.name, strlen(s->kind.name))->kind;
    const unsigned made = kind->build ? kind->build->made : 0;
    for (int w = 0; w < TAMIS_WORDS; w++)
        if (!(made >> w & 1) && info->word[w] != plan->word[w]) return false;
    return true;
}

static const char *plan_holds(const subject *s, uint64_t n, double rate) {
    char spec[256];
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    subject plain = *s;
    plain.can &= ~(unsigned)TAMIS_CAN_LABEL;
    snprintf(spec, sizeof spec, "%s", spec_of(s, n, rate, told(s)));
    const tamis_status rc = tamis_plan_spec(spec, &plan);
    if (rc == TAMIS_TOO_LARGE) return NULL; /* one probe for a small rate, say */
    if (rc) return wrong("%s: %s", spec, tamis_why());
    tamis *f = filled(&plain, n, rate, told(s), 0, s->can & TAMIS_IS_BUILT ? n : 0);
    uint64_t size;
    tamis_payload(f, &size);
    const uint64_t stored = tamis_image_size(f);
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    tamis_free(f);
    if (plan.fpr_expected > rate && !rate_is_fixed(s) && !is_foreign(s))
        return wrong("%s is planned for %g", spec, plan.fpr_expected);
    if (!size_is_as_planned(s, &plan, size) || !size ||
        plan.stored_bytes - plan.payload_bytes != stored - size)
        return wrong("%s: planned %llu bytes, has %llu", spec,
                     (unsigned long long)plan.payload_bytes, (unsigned long long)size);
    if (info.capacity != n || info.fpr_expected != plan.fpr_expected ||
        info.probes != plan.probes || !words_are_as_planned(s, &plan, &info) ||
        fabs(info.fpr_asked / rate - 1) > 1e-5)
        return wrong("%s: info and plan differ", spec);
    return NULL;
}

static const char *plan_tells_the_truth(const subject *s) {
    static const double rates[] = {0.3, 0.01, 1e-4};
    for (uint64_t n = 0; n <= 30000; n = n * 3 + 1)
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            const char *what = plan_holds(s, n, rates[i]);
            if (what) return what;
        }
    return NULL;
}

/* A filter planned for its keys knows their number to a twentieth. One of fixed size knows it like
 * a sample with as many members as there are words. */
static double share_known(const subject *s, const tamis *f) {
    struct tamis_plan few = TAMIS_PLAN_INIT, many = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec_of(s, 100, 0.01, NULL), &few) ||
        tamis_plan_spec(spec_of(s, 100000, 0.01, NULL), &many))
        abort();
    if (few.payload_bytes != many.payload_bytes) return 0.05;
    return fmax(0.05, 1.5 / sqrt((double)test_info(f).payload_bytes / 8));
}

/* Estimates: the truth is within six of their own errors, and their errors are not an excuse. */
static const char *estimates_hold(const subject *s) {
    enum { N = 20000, SHARED = 5000 };
    tamis *a = filled(s, N, 0.01, NULL, 0, N);
    tamis *b = filled(s, N, 0.01, NULL, N - SHARED, 2 * N - SHARED);
    const char *what = NULL;
    const double share = share_known(s, a);
    struct tamis_estimate items, common = {SHARED, 0}, jaccard = {SHARED / (2.0 * N - SHARED), 0};
    const double all = 2 * N - SHARED;
    if (tamis_items_now(a, &items) ||
        (s->can & TAMIS_CAN_MERGE &&
         (tamis_overlap(a, b, &common) || tamis_similarity(a, b, &jaccard))))
        what = tamis_why();
    else if (fabs(items.value - N) > 6 * items.error + 1e-6 * N || items.error > share * N)
        what = wrong("%d keys are estimated as %.1f +- %.1f", N, items.value, items.error);
    else if (fabs(common.value - SHARED) > 6 * common.error + 1e-6 || common.error > 4 * share * N)
        what = wrong("%d common keys as %.1f +- %.1f", SHARED, common.value, common.error);
    else if (fabs(jaccard.value - SHARED / all) > 6 * jaccard.error + 1e-6)
        what = wrong("similarity %.3f as %.3f +- %.3f", SHARED / all, jaccard.value, jaccard.error);
    tamis_free(a);
    tamis_free(b);
    return what;
}

/* The payload follows from the set of keys only. */
#define SETS_OF_KEYS (TAMIS_ADDS_ONCE | TAMIS_ANY_ORDER)

const law membership_laws[] = {
    {"no_false_negative", 0, no_false_negative, TAMIS_AGES | TAMIS_IS_SKETCH},
    {"empty_has_nothing", 0, empty_has_nothing, TAMIS_IS_SKETCH},
    {"rate_as_promised", 0, rate_as_promised, TAMIS_IS_SKETCH},
    {"batch_equals_single", 0, batch_equals_single, 0},
    {"every_bit_counts", TAMIS_CAN_ADD | SETS_OF_KEYS, every_bit_counts,
     TAMIS_AGES | TAMIS_IS_SKETCH},
    {"duplicates_harmless", TAMIS_CAN_ADD | TAMIS_ADDS_ONCE, duplicates_harmless, 0},
    {"any_order_same_bytes", TAMIS_CAN_ADD | TAMIS_ANY_ORDER, any_order_same_bytes, 0},
    {"plan_tells_the_truth", 0, plan_tells_the_truth, 0},
    {"estimates_hold", 0, estimates_hold, TAMIS_AGES},
    {NULL, 0, NULL, 0},
};
