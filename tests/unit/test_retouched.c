/* SPDX-License-Identifier: MIT */
/* retouched clears bits to remove false positives: checked against two plain bit arrays, and
 * against the formula for its cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tamis.h"
#include "tamis_engine.h"
#include "tamis_special.h"
#include "tests/support/arrays.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

enum { TEXT = 256, MAX_HASHES = 64 };

static bool bit_at(const uint8_t *bytes, uint64_t i) {
    return bytes[i / 8] >> i % 8 & 1;
}

/* The positions of a hash, computed independently. */
static unsigned positions(uint64_t hash, uint64_t bits, uint64_t hashes, uint64_t *at) {
    uint64_t x = hash | 1;
    __extension__ typedef unsigned __int128 u128;
    for (uint64_t i = 0; i < hashes; i++, x *= 0xf1357aea2e62a9c5)
        at[i] = (uint64_t)((u128)x * bits >> 64);
    return (unsigned)hashes;
}

enum { MEMBERS = 20000 };
static uint64_t members[MEMBERS];

static tamis *with_members(const char *spec) {
    tamis *f = test_make("%s", spec);
    for (uint64_t i = 0; i < MEMBERS; i++) members[i] = test_number(3, i);
    assert_int_equal(tamis_add_hashes(f, members, MEMBERS), TAMIS_OK);
    return f;
}

static uint64_t count_found(const tamis *f, const uint64_t *hashes, size_t n) {
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) found += tamis_has_hash(f, hashes[i]);
    return found;
}

static uint64_t cleared_in(const tamis *f) {
    return test_bits_set(test_array(f, 100, 1), test_info(f).word[0] / 8);
}

/* Non-members that are answered yes. */
static void find_trouble(const tamis *f, uint64_t *trouble, size_t n) {
    size_t found = 0;
    for (uint64_t i = 0; found < n; i++) {
        const uint64_t hash = test_number(3, TEST_STRANGERS + i);
        if (tamis_has_hash(f, hash)) trouble[found++] = hash;
    }
}

/* Clearing a share d of the set bits keeps (1-d)^k of the keys, and (1-d)^k of the rate. */
static void a_share_costs_what_the_formula_says(void **state) {
    (void)state;
    enum { NONMEMBERS = 1000000 };
    for (double share = 0.02; share < 0.4; share *= 3) {
        tamis *f = with_members("retouched:capacity=20000,fpr=5%");
        const double before = tamis_fpr_now(f), k = (double)test_info(f).word[1];
        const uint64_t set = test_bits_set(test_payload(f), test_info(f).word[0] / 8);
        struct tamis_retouch_stats report;
        assert_int_equal(tamis_retouch_share(f, share, 42, &report), TAMIS_OK);
        assert_int_equal(report.bits_cleared, cleared_in(f));
        test_demand_possible(report.bits_cleared, set, share, "cleared bits");

        const double d = (double)report.bits_cleared / (double)set;
        test_demand_possible(MEMBERS - count_found(f, members, MEMBERS), MEMBERS, 1 - pow(1 - d, k),
                             "lost keys");
        assert_true(fabs(tamis_fpr_now(f) / (before * pow(1 - d, k)) - 1) < 1e-9);
        test_demand_possible(test_count_hits(f, 3, TEST_STRANGERS, NONMEMBERS), NONMEMBERS,
                             before * pow(1 - d, k), "strangers");

        const struct tamis_info info = test_info(f); /* still estimates all adds */
        assert_int_equal(info.affected, report.bits_cleared);
        assert_true(fabs(info.items_now.value - MEMBERS) < 6 * info.items_now.error);
        char about[TEXT];
        snprintf(about, sizeof about, "%.2g %% of the keys", 100 * (1 - pow(1 - d, k)));
        if (!strstr(info.caveat, about)) fail_msg("'%s' is not in '%s'", about, info.caveat);
        tamis_free(f);
    }
}

static void shares_at_the_edges(void **state) {
    (void)state;
    tamis *f = with_members("retouched:capacity=20000"), *old = test_copy(f), *g = test_copy(f);
    struct tamis_retouch_stats report;
    assert_int_equal(tamis_retouch_share(f, 0, 1, &report), TAMIS_OK);
    assert_true(report.bits_cleared == 0 && test_is_same_payload(f, old));
    assert_int_equal(tamis_retouch_share(f, -0.1, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_retouch_share(f, 1.1, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_retouch_share(f, NAN, 1, NULL), TAMIS_INVALID);

    /* The same seed clears the same bits, another seed others. */
    assert_int_equal(tamis_retouch_share(f, 0.1, 1, &report), TAMIS_OK);
    assert_int_equal(tamis_retouch_share(g, 0.1, 1, NULL), TAMIS_OK);
    assert_true(test_is_same_payload(f, g));
    assert_int_equal(tamis_retouch_undo(g), TAMIS_OK);
    assert_true(test_is_same_payload(g, old));
    assert_int_equal(tamis_retouch_share(g, 0.1, 2, NULL), TAMIS_OK);
    assert_false(test_is_same_payload(f, g));

    /* The same seed again clears a share of what is left. */
    const uint64_t left = test_bits_set(test_payload(f), test_info(f).word[0] / 8);
    assert_int_equal(tamis_retouch_share(f, 0.1, 1, &report), TAMIS_OK);
    test_demand_possible(report.bits_cleared, left, 0.1, "a second share");

    assert_int_equal(tamis_retouch_share(f, 1, 1, NULL), TAMIS_OK);
    assert_int_equal(count_found(f, members, MEMBERS), 0);
    assert_int_equal(tamis_retouch_undo(f), TAMIS_OK);
    assert_true(test_is_same_payload(f, old));
    tamis_free(f);
    tamis_free(g);
    tamis_free(old);
}

/* Every policy removes all troublesome keys, reports correctly, and can be undone exactly. */
static void every_way_ends_the_trouble(void **state) {
    (void)state;
    enum { TROUBLE = 2000 };
    static uint64_t trouble[TROUBLE];
    uint64_t lost[4], bits[4];
    for (int way = TAMIS_RETOUCH_RANDOM; way <= TAMIS_RETOUCH_RATIO; way++) {
        tamis *f = with_members("retouched:capacity=20000,fpr=1%"), *old = test_copy(f);
        struct tamis_retouch_stats report;
        find_trouble(f, trouble, TROUBLE);
        assert_int_equal(tamis_retouch(f, (enum tamis_retouch_policy)way, trouble, TROUBLE, members,
                                       MEMBERS, 7, &report),
                         TAMIS_OK);
        assert_int_equal(count_found(f, trouble, TROUBLE), 0);
        assert_int_equal(report.trouble_cleared, TROUBLE);
        assert_int_equal(report.bits_cleared, cleared_in(f));
        assert_int_equal(report.keys_lost, MEMBERS - count_found(f, members, MEMBERS));
        lost[way] = report.keys_lost;
        bits[way] = report.bits_cleared;

        /* A second run has nothing to do. */
        assert_int_equal(tamis_retouch(f, (enum tamis_retouch_policy)way, trouble, TROUBLE, members,
                                       MEMBERS, 7, &report),
                         TAMIS_OK);
        assert_true(!report.trouble_cleared && !report.bits_cleared && !report.keys_lost);

        /* A key added again is found again. */
        for (size_t i = 0; i < MEMBERS; i++)
            if (!tamis_has_hash(f, members[i])) {
                assert_int_equal(tamis_add_hash(f, members[i]), TAMIS_OK);
                assert_true(tamis_has_hash(f, members[i]));
                break;
            }
        assert_int_equal(tamis_retouch_undo(f), TAMIS_OK);
        assert_true(test_is_same_payload(f, old));
        assert_int_equal(test_info(f).affected, 0);
        tamis_free(f);
        tamis_free(old);
    }
    assert_true(lost[TAMIS_RETOUCH_KEYS] < lost[TAMIS_RETOUCH_RANDOM]);
    assert_true(lost[TAMIS_RETOUCH_RATIO] < lost[TAMIS_RETOUCH_KEYS]);
    assert_true(bits[TAMIS_RETOUCH_TROUBLE] < bits[TAMIS_RETOUCH_RANDOM]);
    assert_true(bits[TAMIS_RETOUCH_TROUBLE] <= bits[TAMIS_RETOUCH_RATIO]);
}

/* Counts as the policies need them, computed here: each key once for each of its bits. */
static void count_needs(const tamis *f, const uint64_t *hashes, size_t n, unsigned *needs) {
    const struct tamis_info info = test_info(f);
    uint64_t at[MAX_HASHES];
    for (size_t j = 0; j < n; j++) {
        const unsigned k = positions(hashes[j], info.word[0], info.word[1], at);
        for (unsigned i = 0; i < k; i++) {
            unsigned before = 0;
            while (at[before] != at[i]) before++;
            needs[at[i]] += before == i;
        }
    }
}

/* The first bit cleared is the best one of the key, by the rule of the policy. */
static void ways_choose_the_best_bit(void **state) {
    (void)state;
    enum { TROUBLE = 300, MAX_BITS = 1 << 19 };
    static uint64_t trouble[TROUBLE];
    static unsigned keys_at[MAX_BITS], trouble_at[MAX_BITS];
    tamis *f = with_members("retouched:capacity=20000,fpr=1%");
    const struct tamis_info info = test_info(f);
    find_trouble(f, trouble, TROUBLE);
    assert_true(info.word[0] <= MAX_BITS);
    memset(keys_at, 0, sizeof keys_at);
    memset(trouble_at, 0, sizeof trouble_at);
    count_needs(f, members, MEMBERS, keys_at);
    count_needs(f, trouble, TROUBLE, trouble_at);
    for (size_t t = 0; t < TROUBLE; t++)
        for (int way = TAMIS_RETOUCH_RANDOM; way <= TAMIS_RETOUCH_RATIO; way++) {
            uint64_t at[MAX_HASHES], turned[TROUBLE], chosen = info.word[0];
            const unsigned k = positions(trouble[t], info.word[0], info.word[1], at);
            memcpy(turned, trouble, sizeof turned); /* this one first */
            turned[0] = trouble[t], turned[t] = trouble[0];
            tamis *g = test_copy(f);
            assert_int_equal(tamis_retouch(g, (enum tamis_retouch_policy)way, turned, TROUBLE,
                                           members, MEMBERS, t, NULL),
                             TAMIS_OK);
            /* Other keys may have cleared more of its bits; the best must be among them. */
            double best = INFINITY, best_cleared = INFINITY;
            for (unsigned i = 0; i < k; i++) {
                const double keys = keys_at[at[i]], hits = trouble_at[at[i]];
                const double cost = way == TAMIS_RETOUCH_KEYS      ? keys
                                    : way == TAMIS_RETOUCH_TROUBLE ? -hits
                                    : way == TAMIS_RETOUCH_RATIO   ? keys / hits
                                                                   : 0;
                best = fmin(best, cost);
                if (bit_at(test_array(g, 100, 1), at[i])) {
                    best_cleared = fmin(best_cleared, cost);
                    chosen = at[i];
                }
            }
            assert_true(chosen < info.word[0]);
            assert_true(best_cleared == best);
            tamis_free(g);
            if (t % 10) break; /* random for all, the others for a tenth */
        }
    tamis_free(f);
}

/* Where the given keys need none of the bits, only trouble decides the ratio. */
static void ratio_without_known_keys_is_trouble(void **state) {
    (void)state;
    enum { TROUBLE = 1000 };
    static uint64_t trouble[TROUBLE];
    tamis *f = with_members("retouched:capacity=20000,fpr=1%"), *g = test_copy(f);
    const uint64_t nobody = test_number(99, 1);
    find_trouble(f, trouble, TROUBLE);
    assert_false(tamis_has_hash(f, nobody));
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_RATIO, trouble, TROUBLE, &nobody, 1, 0, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_retouch(g, TAMIS_RETOUCH_TROUBLE, trouble, TROUBLE, NULL, 0, 0, NULL),
                     TAMIS_OK);
    assert_true(test_is_same_payload(f, g));
    tamis_free(f);
    tamis_free(g);
}

/* The random policy reaches every bit of a key, and the seed decides which. */
static void chance_is_repeatable_and_fair(void **state) {
    (void)state;
    enum { SEEDS = 6000 };
    tamis *f = with_members("retouched:capacity=20000,fpr=2%"), *old = test_copy(f);
    const struct tamis_info info = test_info(f);
    uint64_t trouble, at[MAX_HASHES], taken[MAX_HASHES] = {0};
    const uint8_t *cleared = test_payload(f) + info.word[0] / 8;
    find_trouble(f, &trouble, 1);
    const unsigned k = positions(trouble, info.word[0], info.word[1], at);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct tamis_retouch_stats report;
        assert_int_equal(
            tamis_retouch(f, TAMIS_RETOUCH_RANDOM, &trouble, 1, NULL, 0, seed, &report), TAMIS_OK);
        assert_int_equal(report.bits_cleared, 1);
        for (unsigned i = 0; i < k; i++) taken[i] += bit_at(cleared, at[i]);
        assert_int_equal(tamis_retouch_undo(f), TAMIS_OK);
    }
    for (unsigned i = 0; i < k; i++)
        test_demand_possible(taken[i], SEEDS, 1.0 / k, "a bit by chance");
    assert_true(test_is_same_payload(f, old));
    tamis_free(f);
    tamis_free(old);
}

static void ways_ask_for_what_they_need(void **state) {
    (void)state;
    tamis *f = test_make("retouched:capacity=100"), *plain = test_make("classic:capacity=100");
    const uint64_t trouble = 1;
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_KEYS, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_RATIO, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_retouch(f, TAMIS_RETOUCH_TROUBLE, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_retouch(f, (enum tamis_retouch_policy)4, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_retouch(plain, TAMIS_RETOUCH_RANDOM, &trouble, 1, NULL, 0, 0, NULL),
                     TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_retouch_undo(plain), TAMIS_UNSUPPORTED);
    tamis_free(f);
    tamis_free(plain);
}

/* Adds, clears, undos and merges in any order, against two plain bit arrays. */
static void retouched_like_a_model(void **state) {
    (void)state;
    enum { FILTERS = 3, BITS = 1024, STEPS = 3000 };
    bool was_set[FILTERS][BITS] = {{0}}, is_kept[FILTERS][BITS] = {{0}};
    tamis *f[FILTERS];
    for (int i = 0; i < FILTERS; i++) f[i] = test_make("retouched:capacity=100,bits=2048,hashes=4");
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t draw = test_number(9, step), hash = test_number(10, draw % 500);
        const unsigned a = (draw >> 20) % FILTERS, b = (draw >> 30) % FILTERS;
        uint64_t at[MAX_HASHES];
        positions(hash, BITS, 4, at);
        const unsigned what = draw >> 40 & 63;
        if (what == 0) {
            assert_int_equal(tamis_merge(f[a], f[b]), TAMIS_OK);
            for (int i = 0; i < BITS; i++) {
                was_set[a][i] |= was_set[b][i];
                is_kept[a][i] |= is_kept[b][i];
            }
        } else if (what == 1) {
            assert_int_equal(tamis_retouch_undo(f[a]), TAMIS_OK);
            memcpy(is_kept[a], was_set[a], BITS);
        } else if (what < 24) { /* read back which bit was cleared */
            const bool was_found = tamis_has_hash(f[a], hash);
            assert_int_equal(
                tamis_retouch(f[a], TAMIS_RETOUCH_RANDOM, &hash, 1, NULL, 0, step, NULL), TAMIS_OK);
            const uint8_t *kept = test_payload(f[a]);
            unsigned gone = 0;
            for (int i = 0; i < BITS; i++) {
                const bool is_now = bit_at(kept, (uint64_t)i);
                if (is_kept[a][i] && !is_now) {
                    is_kept[a][i] = false;
                    gone++;
                }
            }
            assert_int_equal(gone, was_found);
        } else {
            assert_int_equal(tamis_add_hash(f[a], hash), TAMIS_OK);
            for (int i = 0; i < 4; i++) was_set[a][at[i]] = is_kept[a][at[i]] = true;
        }
        const uint8_t *kept = test_payload(f[a]), *cleared = kept + BITS / 8;
        for (uint64_t i = 0; i < BITS; i++) {
            assert_int_equal(bit_at(kept, i), is_kept[a][i]);
            assert_int_equal(bit_at(cleared, i), was_set[a][i] && !is_kept[a][i]);
        }
    }
    for (int i = 0; i < FILTERS; i++) tamis_free(f[i]);
}

/* The gate refuses a bit that is both kept and cleared; one that is neither may become either. */
static void a_bit_is_kept_or_cleared(void **state) {
    (void)state;
    tamis *f = test_make("retouched:capacity=20");
    const uint64_t bits = test_info(f).word[0];
    const uint8_t *kept = test_payload(f), *cleared = kept + bits / 8;
    test_add_hashes(f, 1, 0, 20);
    assert_int_equal(tamis_retouch_share(f, 0.2, 1, NULL), TAMIS_OK);
    for (uint64_t i = 0; i < 2 * bits; i++) {
        const bool is_kept = bit_at(kept, i % bits), is_cleared = bit_at(cleared, i % bits);
        const bool makes_both = i < bits ? is_cleared : is_kept;
        assert_int_equal(test_takes_flip(f, i), !makes_both);
    }
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_costs_what_the_formula_says),
        cmocka_unit_test(shares_at_the_edges),
        cmocka_unit_test(every_way_ends_the_trouble),
        cmocka_unit_test(ways_choose_the_best_bit),
        cmocka_unit_test(ratio_without_known_keys_is_trouble),
        cmocka_unit_test(chance_is_repeatable_and_fair),
        cmocka_unit_test(ways_ask_for_what_they_need),
        cmocka_unit_test(retouched_like_a_model),
        cmocka_unit_test(a_bit_is_kept_or_cleared),
    };
    return cmocka_run_group_tests_name("retouched", tests, NULL, NULL);
}
