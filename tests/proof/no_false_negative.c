/* SPDX-License-Identifier: MIT */
/* No false negative: 10^8 times a key that was added is asked for, and every time the answer is
 * yes, whatever has happened to the filter since.
 *
 * Every kind of the registry is made in many shapes and with every hash, filled, and then led
 * through all that may be done to a filter without losing keys: copied, saved and loaded, viewed
 * at an odd address, merged, folded, asked by every call and by every vector unit. One missing key
 * is a failure; the number of checks is counted, and too few are a failure as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "cpu/cpu.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

#ifdef TAMIS_SHORT /* make proof SHORT=1: a seventh of the questions, still more than 10^8 */
enum { KEYS = 20000 };
#else
enum { KEYS = 150000 };
#endif
enum { HALF = KEYS / 2, TEXT = 256 };

/* Each filter has a family of keys of its own, so that no two tests ask the same questions. */
typedef struct family {
    uint64_t numbers[KEYS];
    uint8_t bytes[KEYS][8];
    struct tamis_key keys[KEYS];
    uint64_t hashes[KEYS];
    uint8_t hit[KEYS];
} family;

static family now;
static uint64_t checks, states;
static const char *spec_now;

static void make_family(uint64_t number) {
    for (uint64_t i = 0; i < KEYS; i++) {
        now.numbers[i] = test_number(number, i);
        tamis__put64(now.bytes[i], now.numbers[i]);
        /* Every other family has keys of 6 to 8 bytes, the rest are whole numbers. */
        now.keys[i] = (struct tamis_key){now.bytes[i], number % 2 ? 8 : 8 - i % 3};
    }
}

/* ---- Checking ------------------------------------------------------------------------------- */

static bool can(const tamis *f, unsigned ability) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    return (info.abilities & ability) != 0; /* with its options: some modes cannot be merged */
}

static void count_answers(size_t n, const char *what) {
    size_t missing = 0;
    for (size_t i = 0; i < n; i++) missing += !now.hit[i];
    checks += n;
    if (missing) fail_msg("%s, %s: %zu of %zu keys are missing", spec_now, what, missing, n);
}

/* Hashes of the family's keys in the way of this filter. */
static void hash_family(const tamis *f) {
    for (size_t i = 0; i < KEYS; i++)
        now.hashes[i] = tamis_hash(f, now.keys[i].bytes, now.keys[i].len);
}

/* The first n keys, by hashes in a batch: the call that costs least, made in every state. */
static void check(const tamis *f, size_t n, const char *what) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    memset(now.hit, 0, n);
    if (strcmp(info.hash, "own") == 0)
        tamis_has_many(f, now.keys, n, now.hit);
    else
        tamis_has_hashes(f, now.hashes, n, now.hit);
    count_answers(n, what);
    states++;
}

/* The same by every other call, and without vector units. */
static void check_every_way(const tamis *f, const char *what) {
    check(f, KEYS, what);
    memset(now.hit, 0, KEYS);
    tamis_has_many(f, now.keys, KEYS, now.hit);
    count_answers(KEYS, "by tamis_has_many");
    for (size_t i = 0; i < KEYS; i++) now.hit[i] = tamis_has(f, now.keys[i].bytes, now.keys[i].len);
    count_answers(KEYS, "by tamis_has");
    for (size_t i = 0; i < KEYS; i++) now.hit[i] = tamis_has_hash(f, now.hashes[i]);
    count_answers(KEYS, "by tamis_has_hash");
    size_t whole = 0;
    for (size_t i = 0; i < KEYS; i++)
        if (now.keys[i].len == 8) now.hit[whole++] = tamis_has_u64(f, now.numbers[i]);
    count_answers(whole, "by tamis_has_u64");
    if (whole == KEYS && !can(f, TAMIS_OWN_HASH)) {
        tamis_hash_u64s(f, now.numbers, KEYS, now.hashes); /* the same hashes once more */
        check(f, KEYS, "by tamis_hash_u64s");
    }
    for (size_t i = 0, n; i < KEYS; i += n) { /* batches of every small length */
        n = 1 + i % 67;
        if (n > KEYS - i) n = KEYS - i;
        tamis_has_hashes(f, now.hashes + i, n, now.hit + i);
    }
    count_answers(KEYS, "in small batches");
    tamis__cpu_set(0);
    check(f, KEYS, "without vector units");
    tamis__cpu_set(TAMIS_CPU_ALL);
}

/* ---- What may happen to a filter ------------------------------------------------------------ */

static const uint8_t secret[16] = "known to no one";

static struct tamis_options options_for(const char *spec) {
    return (struct tamis_options){.struct_size = sizeof(struct tamis_options),
                                  .secret = strstr(spec, "sip13") ? secret : NULL};
}

static tamis *made(const char *spec) {
    const struct tamis_options options = options_for(spec);
    tamis *f;
    if (tamis_create_with(&f, spec, &options)) fail_msg("'%s' is refused: %s", spec, tamis_why());
    return f;
}

static void must(tamis_status rc) {
    if (rc) fail_msg("%s: %s", spec_now, tamis_why());
}

/* By keys, by hashes, one by one and from a shared call: a quarter of the keys each. */
static void fill(tamis *f) {
    const size_t quarter = KEYS / 4;
    if (can(f, TAMIS_OWN_HASH)) {
        must(tamis_add_many(f, now.keys, KEYS));
        return;
    }
    must(tamis_add_many(f, now.keys, quarter));
    must(tamis_add_hashes(f, now.hashes + quarter, quarter));
    for (size_t i = 2 * quarter; i < 3 * quarter; i++)
        must(tamis_add(f, now.keys[i].bytes, now.keys[i].len));
    if (can(f, TAMIS_CAN_SHARE))
        must(tamis_add_hashes_shared(f, now.hashes + 3 * quarter, KEYS - 3 * quarter));
    else
        must(tamis_add_hashes(f, now.hashes + 3 * quarter, KEYS - 3 * quarter));
}

/* ---- What is built once ---- */

static bool is_built(const char *spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    return tamis_plan_spec(spec, &plan) == TAMIS_OK && plan.abilities & TAMIS_IS_BUILT;
}

static tamis_builder *builder_of(const char *spec) {
    const struct tamis_options filter = options_for(spec);
    const struct tamis_builder_options options = {
        .struct_size = sizeof options, .filter = &filter, .threads = 2};
    tamis_builder *b;
    if (tamis_builder_create_with(&b, spec, &options))
        fail_msg("'%s' is refused: %s", spec, tamis_why());
    return b;
}

static tamis *finished(tamis_builder *b) {
    tamis *f;
    must(tamis_builder_finish(b, &f));
    tamis_builder_free(b);
    return f;
}

/* A third each by keys, by hashes and one by one; known-good keys beside them, by those that know
 * what they are. */
static tamis *built(const char *spec, size_t from, size_t to) {
    tamis_builder *b = builder_of(spec);
    const size_t third = (to - from) / 3;
    for (size_t i = 0; i < KEYS; i++)
        now.hashes[i] = tamis_builder_hash(b, now.keys[i].bytes, now.keys[i].len);
    must(tamis_builder_add_many(b, now.keys + from, third));
    must(tamis_builder_add_hashes(b, now.hashes + from + third, third));
    for (size_t i = from + 2 * third; i < to; i++)
        must(tamis_builder_add(b, now.keys[i].bytes, now.keys[i].len));
    for (uint64_t i = 0; i < 1000; i++)
        if (tamis_builder_exclude_hash(b, test_number(states, TEST_STRANGERS + i))) break;
    return finished(b);
}

static void after_copy(const tamis *f) {
    tamis *copy;
    must(tamis_copy(&copy, f));
    check(copy, KEYS, "copied");
    tamis_free(copy);
}

static void after_save_and_load(const tamis *f) {
    const size_t size = (size_t)tamis_image_size(f), odd = 1 + size % 7;
    const struct tamis_options options = options_for(spec_now);
    uint8_t *room = malloc(size + 8);
    tamis *g;
    assert_non_null(room);
    must(tamis_serialize(f, room, size));
    must(tamis_load_with(&g, room, size, &options));
    check(g, KEYS, "saved and loaded");
    tamis_free(g);
    memmove(room + odd, room, size);
    must(tamis_view_with(&g, room + odd, size, &options));
    check(g, KEYS, "viewed at an odd address");
    if (states % 8 == 0) check_every_way(g, "viewed at an odd address");
    after_copy(g);
    tamis_free(g);
    free(room);
}

static void after_merge(const char *spec, const tamis *whole) {
    if (!can(whole, TAMIS_CAN_MERGE)) return;
    const bool adds = !is_built(spec);
    tamis *a = adds ? made(spec) : built(spec, 0, HALF);
    tamis *b = adds ? made(spec) : built(spec, HALF, KEYS);
    if (adds) must(tamis_add_many(a, now.keys, HALF));
    if (adds) must(tamis_add_many(b, now.keys + HALF, KEYS - HALF));
    /* What grows and would miss its rate refuses, and keeps what it had. */
    const tamis_status rc = tamis_merge(a, b);
    const bool is_refused = rc == TAMIS_FULL && can(whole, TAMIS_CAN_GROW);
    if (!is_refused) must(rc);
    check(a, is_refused ? HALF : KEYS, is_refused ? "not merged" : "merged");
    if (can(whole, TAMIS_CAN_INTERSECT)) { /* what both have: the second half, after this */
        must(tamis_add_many(b, now.keys, HALF));
        must(tamis_intersect(b, whole));
        check(b, KEYS, "intersected with all keys");
    }
    tamis_free(a), tamis_free(b);
}

/* Folds as far as the size allows, asks at each step, and adds to the folded one again. */
static void after_fold(tamis *f) {
    static const uint64_t by[] = {2, 3, 2, 5, 4};
    if (!can(f, TAMIS_CAN_FOLD)) return;
    for (size_t i = 0; i < COUNT_OF(by); i++)
        if (tamis_fold(f, by[i]) == TAMIS_OK) {
            check(f, KEYS, "folded");
            after_save_and_load(f);
        }
    tamis *g;
    must(tamis_copy(&g, f));
    make_family(states + 1000000);
    hash_family(g);
    fill(g);
    check(g, KEYS, "filled after folding");
    tamis_free(g);
}

static void lead_through_everything(const char *spec) {
    spec_now = spec;
    make_family(states);
    tamis *f = is_built(spec) ? built(spec, 0, KEYS) : made(spec);
    hash_family(f);
    if (!is_built(spec)) fill(f);
    check_every_way(f, "filled");
    after_copy(f);
    after_save_and_load(f);
    after_merge(spec, f);
    after_fold(f);
    tamis_free(f);
}

/* ---- Kinds, shapes, hashes ------------------------------------------------------------------ */

/* Planned for these keys, for far fewer (so that nearly every bit is set) and for more; sizes that
 * are no round numbers, and ones that fold well. */
static const char *const params[] = {
    "capacity=150K,fpr=1%", "capacity=150K,fpr=1e-4",     "capacity=10K,fpr=5%",
    "capacity=1M,fpr=0.1%", "capacity=150K,bits=1234567", "capacity=150K,bits=3932160",
};
static const char *const hashes[] = {"xxh3", "xxh64,seed=12345", "mix8", "sip13",
                                     "sip13,key=outside"};

/* Kinds of fixed room say beforehand that so many keys do not fit. */
static bool has_room(const char *spec) {
    spec_now = spec;
    tamis *f = made(spec);
    make_family(states);
    const tamis_status rc = tamis_add_many(f, now.keys, KEYS);
    if (rc != TAMIS_FULL) must(rc);
    tamis_free(f);
    return rc == TAMIS_OK;
}

static void try_spec(const char *kind, const char *params, const char *hash, const char *option) {
    char spec[TEXT];
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    snprintf(spec, sizeof spec, "%s:%s%s%s%s", kind, params, hash ? ",hash=" : "", hash ? hash : "",
             option);
    if (tamis_plan_spec(spec, &plan) || plan.payload_bytes > 64 << 20) return;
    if (plan.abilities & TAMIS_AGES && plan.capacity < KEYS) return; /* old keys leave, as agreed */
    if (test_is_part(&plan)) return; /* tests/unit/test_shard.c has all shards of a whole */
    if (plan.abilities & TAMIS_IS_BUILT || has_room(spec)) lead_through_everything(spec);
}

/* Some forget as they age, and say so; and one of another system can only be asked. */
static bool keeps_keys(const struct tamis_kind_info *kind) {
    const unsigned forgets = TAMIS_AGES | TAMIS_MAY_FORGET;
    if (!(kind->abilities & (TAMIS_CAN_ADD | TAMIS_IS_BUILT))) return false;
    return (kind->abilities & forgets) != forgets;
}

static void every_kind_keeps_every_key(void **state) {
    (void)state;
    unsigned kinds = 0;
    for (size_t k = 0; k < test_own_kinds(); k++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        assert_true(tamis_kind_at(k, &kind));
        if (!keeps_keys(&kind)) continue;
        const uint64_t before = checks;
        const bool is_own = kind.abilities & TAMIS_OWN_HASH;
        for (size_t w = 0; w < COUNT_OF(params); w++) /* every hash with some wish, one with each */
            try_spec(kind.name, params[w], is_own ? NULL : hashes[w % COUNT_OF(hashes)], "");
        print_message("# %-10s %llu checks, 0 missing\n", kind.name,
                      (unsigned long long)(checks - before));
        assert_true(checks > before);
        kinds++;
    }
    assert_true(kinds >= 3);
}

static void every_option_keeps_every_key(void **state) {
    (void)state;
    for (size_t k = 0; k < test_own_kinds(); k++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        assert_true(tamis_kind_at(k, &kind));
        if (!keeps_keys(&kind)) continue;
        for (size_t o = 0; o < kind.option_count; o++) {
            const struct tamis_option *option = &kind.options[o];
            char text[TEXT / 2];
            for (const char *p = option->choices; p;) {
                const int len = (int)strcspn(p, "|");
                snprintf(text, sizeof text, ",%s=%.*s", option->name, len, p);
                try_spec(kind.name, "capacity=150K,bits=3932160", NULL, text);
                try_spec(kind.name, "capacity=150K,fpr=1%", NULL, text);
                p = p[len] ? p + len + 1 : NULL;
            }
            /* What is built has numbers up to 2^63, and each costs a build. */
            const uint64_t times = kind.abilities & TAMIS_IS_BUILT ? 16 : 1;
            for (uint64_t v = option->min; !option->choices && v <= option->max;
                 v = v > UINT64_MAX / 32 ? UINT64_MAX : times * v + 1 + v / 2) {
                snprintf(text, sizeof text, ",%s=%llu", option->name, (unsigned long long)v);
                try_spec(kind.name, "capacity=150K,bits=3932160", NULL, text);
            }
        }
    }
}

/* Batches of every length around those in which the kernels work, at every start. */
static void no_key_is_lost_at_the_ends_of_batches(void **state) {
    (void)state;
    for (size_t k = 0; k < test_own_kinds(); k++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        char spec[TEXT];
        assert_true(tamis_kind_at(k, &kind));
        if (!keeps_keys(&kind) || kind.abilities & TAMIS_OWN_HASH) continue;
        snprintf(spec, sizeof spec, "%s:capacity=1000", kind.name);
        spec_now = spec;
        for (size_t n = 0; n <= 200; n++) {
            make_family(n);
            tamis *f = is_built(spec) ? built(spec, 0, n) : made(spec);
            hash_family(f);
            if (!is_built(spec)) must(tamis_add_hashes(f, now.hashes, n));
            check(f, n, "one batch");
            for (size_t at = 0; at < n; at++) {
                tamis_has_hashes(f, now.hashes + at, n - at, now.hit);
                count_answers(n - at, "the end of a batch");
            }
            tamis_free(f);
        }
    }
}

/* From nothing to ten million keys, in one segment and in several; values with those that have
 * them. */
static void give_numbers(tamis_builder *b, uint64_t n, bool has_values) {
    for (uint64_t i = 0; i < n;) {
        const size_t m = n - i < KEYS ? (size_t)(n - i) : KEYS;
        for (size_t j = 0; j < m; j++) now.hashes[j] = test_number(n, i + j);
        if (!has_values) must(tamis_builder_add_hashes(b, now.hashes, m));
        for (size_t j = 0; has_values && j < m; j++)
            must(tamis_builder_put_hash(b, now.hashes[j], (i + j) % 1000));
        i += m;
    }
}

static void ask_numbers(const tamis *f, uint64_t n, bool has_values) {
    static uint64_t values[KEYS];
    for (uint64_t i = 0; i < n;) {
        const size_t m = n - i < KEYS ? (size_t)(n - i) : KEYS;
        for (size_t j = 0; j < m; j++) now.hashes[j] = test_number(n, i + j);
        check(f, m, "built from numbers");
        if (has_values) tamis_get_hashes(f, now.hashes, m, values, now.hit);
        for (size_t j = 0; has_values && j < m; j++) now.hit[j] &= values[j] == (i + j) % 1000;
        if (has_values) count_answers(m, "with its value");
        i += m;
    }
}

static void what_is_built_keeps_every_key_at_every_size(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 100, 10000, 1000000, 10000000};
    for (size_t k = 0; k < test_own_kinds(); k++) {
        struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
        char spec[TEXT];
        assert_true(tamis_kind_at(k, &kind));
        if (!(kind.abilities & TAMIS_IS_BUILT)) continue;
        const bool has_values = kind.abilities & TAMIS_CAN_GET;
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            snprintf(spec, sizeof spec, "%s:fpr=1%%%s", kind.name, has_values ? ",value=10" : "");
            spec_now = spec;
            tamis_builder *b = builder_of(spec);
            give_numbers(b, sizes[s], has_values);
            tamis *f = finished(b);
            ask_numbers(f, sizes[s], has_values);
            tamis_free(f);
        }
        print_message("# %-10s 0 to 10^7 keys, 0 missing\n", kind.name);
    }
}

static void a_hundred_million_checks_were_made(void **state) {
    (void)state;
    print_message("# %llu checks in %llu states of filters, 0 missing\n",
                  (unsigned long long)checks, (unsigned long long)states);
    assert_true(checks >= 100000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_keeps_every_key),
        cmocka_unit_test(every_option_keeps_every_key),
        cmocka_unit_test(no_key_is_lost_at_the_ends_of_batches),
        cmocka_unit_test(what_is_built_keeps_every_key_at_every_size),
        cmocka_unit_test(a_hundred_million_checks_were_made),
    };
    return cmocka_run_group_tests_name("no_false_negative", tests, NULL, NULL);
}
