/* SPDX-License-Identifier: MIT */
/* Specs, from the text to the plan and back: everything a person may type is either planned or
 * refused with a message that says what to type instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"
#include "tests/support/filters.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { TEXT = 512 };
static const uint8_t secret[16] = "sixteen secrets";
static const char *const common[] = {"capacity", "fpr", "size", "bits", "hash", "seed", "key"};

/* ---- Planned, or refused -------------------------------------------------------------------- */

static struct tamis_kind_info kind_at(size_t i) {
    struct tamis_kind_info kind = TAMIS_KIND_INFO_INIT;
    assert_true(tamis_kind_at(i, &kind));
    return kind;
}

static struct tamis_plan plan_of(const char *spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    if (tamis_plan_spec(spec, &plan)) fail_msg("'%s' is refused: %s", spec, tamis_why());
    return plan;
}

static void assert_same_plan(const char *a, const char *b) {
    const struct tamis_plan x = plan_of(a), y = plan_of(b);
    if (strcmp(x.kind, y.kind) != 0 || memcmp(x.word, y.word, sizeof x.word) != 0 ||
        x.capacity != y.capacity)
        fail_msg("'%s' and '%s' lead to different shapes", a, b);
}

/* An empty filter; kinds that are built once come from a builder. */
static tamis_status make_empty(tamis **f, const char *spec, const struct tamis_options *options) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    const bool is_built =
        tamis_plan_spec(spec, &plan) == TAMIS_OK && plan.abilities & TAMIS_IS_BUILT;
    if (!is_built) return tamis_create_with(f, spec, options);
    const struct tamis_builder_options building = {.struct_size = sizeof building,
                                                   .filter = options};
    tamis_builder *b;
    *f = NULL;
    tamis_status rc = tamis_builder_create_with(&b, spec, &building);
    if (rc) return rc;
    rc = tamis_builder_finish(b, f);
    tamis_builder_free(b);
    return rc;
}

/* Sets a message of our own, so that a refusal without one is detected. */
static void forget_message(void) {
    uint64_t count;
    assert_false(tamis_parse_count("forgotten", &count));
}

static void assert_message(const char *spec, const char *about) {
    if (strstr(tamis_why(), "forgotten")) fail_msg("'%.80s' is refused without a sentence", spec);
    if (!strstr(tamis_why(), about))
        fail_msg("the sentence for '%.80s' does not say '%s': %s", spec, about, tamis_why());
}

/* Planning and creating must refuse alike. */
static void assert_refused(const char *spec, tamis_status status, const char *about) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    tamis *f = (tamis *)&plan;
    forget_message();
    if (tamis_plan_spec(spec, &plan) != status) fail_msg("'%.80s' is planned", spec);
    assert_message(spec, about);
    forget_message();
    assert_int_equal(tamis_create(&f, spec), status);
    assert_null(f);
    assert_message(spec, about);
}

/* For texts that may be either: no crash, no zero shape, a message or a plan. */
static bool ends_well(const char *spec) {
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    forget_message();
    const tamis_status rc = tamis_plan_spec(spec, &plan);
    if (rc) {
        assert_message(spec, "");
        if (rc != TAMIS_INVALID && rc != TAMIS_TOO_LARGE)
            fail_msg("'%s' is refused with status %d: %s", spec, rc, tamis_why());
        return false;
    }
    assert_true(plan.payload_bytes > 0 && plan.probes > 0);
    assert_true(plan.fpr_expected >= 0 && plan.fpr_expected <= 1);
    return true;
}

static tamis *made(const char *spec) {
    const struct tamis_options options = {.struct_size = sizeof options,
                                          .secret = strstr(spec, "key=outside") ? secret : NULL};
    tamis *f;
    if (make_empty(&f, spec, &options)) fail_msg("'%s' is refused: %s", spec, tamis_why());
    return f;
}

static struct tamis_info info_of(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_measure(f, &info);
    return info;
}

/* Describes sets, not keys: rates do not apply, and its own options set the size. */
static bool is_sketch(size_t i) {
    return kind_at(i).abilities & TAMIS_IS_SKETCH;
}

/* ---- Kinds ---------------------------------------------------------------------------------- */

static void a_kind_alone_lacks_its_capacity(void **state) {
    (void)state;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        if (is_sketch(i)) continue; /* sized by its options */
        assert_refused(kind_at(i).name, TAMIS_INVALID, "capacity is missing");
        char spec[TEXT];
        snprintf(spec, sizeof spec, "%s:", kind_at(i).name);
        assert_refused(spec, TAMIS_INVALID, "capacity is missing");
    }
}

static void without_a_kind_it_is_blocked(void **state) {
    (void)state;
    assert_same_plan("capacity=1M", "blocked:capacity=1M,fpr=1%");
    assert_string_equal(plan_of("capacity=1M").kind, "blocked");
    assert_same_plan("fpr=0.1%,capacity=5000", "blocked:capacity=5000,fpr=0.1%");
}

static void an_unknown_kind_is_answered_with_the_list(void **state) {
    (void)state;
    static const char *const unknown[] = {"blok:capacity=1",
                                          "CLASSIC:capacity=1",
                                          "clas:capacity=1",
                                          "classic-two:capacity=1",
                                          ":capacity=1",
                                          " :capacity=1",
                                          "blocked split:capacity=1",
                                          "blok"};
    for (size_t i = 0; i < COUNT_OF(unknown); i++)
        for (size_t k = 0; k < test_own_kinds(); k++)
            assert_refused(unknown[i], TAMIS_INVALID, kind_at(k).name);
}

/* ---- Names and values ----------------------------------------------------------------------- */

static void spaces_and_order_do_not_matter(void **state) {
    (void)state;
    static const char *const same[] = {
        "classic:capacity=1M,fpr=0.1%,seed=7",
        " classic : capacity = 1M , fpr = 0.1% , seed = 7 ",
        "classic:   capacity=1M   ,fpr=0.1%,   seed=7",
        "classic:seed=7,fpr=0.1%,capacity=1M",
        "classic:capacity=1000000,fpr=1/1000,seed=7",
        "classic:capacity=1e6,fpr=0.001,seed=7,hash=xxh3",
    };
    for (size_t i = 1; i < COUNT_OF(same); i++) assert_same_plan(same[0], same[i]);
    assert_same_plan("blocked:capacity=1M", " capacity=1M");
}

static void one_percent_is_the_rate_when_none_is_given(void **state) {
    (void)state;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        char without[TEXT], with[TEXT];
        snprintf(without, sizeof without, "%s:capacity=12345", kind_at(i).name);
        snprintf(with, sizeof with, "%s:capacity=12345,fpr=0.01", kind_at(i).name);
        assert_same_plan(without, with);
        assert_true(plan_of(without).fpr_asked == 0.01);
    }
}

static void size_and_bits_say_the_same(void **state) {
    (void)state;
    const uint64_t unit_at_most = 512; /* largest indivisible unit: blocks of slots */
    for (size_t i = 0; i < test_own_kinds(); i++) {
        if (is_sketch(i)) continue; /* sized by its options */
        char size[TEXT], bits[TEXT];
        snprintf(size, sizeof size, "%s:capacity=5000,size=64K", kind_at(i).name);
        snprintf(bits, sizeof bits, "%s:capacity=5000,bits=512Ki", kind_at(i).name);
        assert_same_plan(size, bits);
        const struct tamis_plan plan = plan_of(size);
        assert_true(plan.payload_bytes <= 65536);
        /* Kinds that are built once have whole-bit widths, up to a maximum. */
        assert_true(kind_at(i).abilities & TAMIS_IS_BUILT ||
                    plan.payload_bytes > 65536 - unit_at_most);
        assert_true(plan.fpr_asked == 0);
    }
}

/* Kinds of other systems have none of these. */
static bool is_about_hash(const char *option) {
    return !strcmp(option, "hash") || !strcmp(option, "seed") || !strcmp(option, "key");
}

static void an_unknown_option_is_answered_with_the_list(void **state) {
    (void)state;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        const struct tamis_kind_info kind = kind_at(i);
        static const char *const unknown[] = {"zzzzzz=4K", "=4", "CAPACITY=1",
                                              "capacity =1,zzzzzz =2"};
        for (size_t u = 0; u < COUNT_OF(unknown); u++) {
            char spec[TEXT];
            snprintf(spec, sizeof spec, "%s:%s", kind.name, unknown[u]);
            assert_refused(spec, TAMIS_INVALID, kind.name);
            for (size_t c = 0; c < COUNT_OF(common); c++)
                if (!(kind.abilities & TAMIS_OWN_HASH) || !is_about_hash(common[c]))
                    assert_refused(spec, TAMIS_INVALID, common[c]);
            for (size_t o = 0; o < kind.option_count; o++)
                assert_refused(spec, TAMIS_INVALID, kind.options[o].name);
        }
    }
}

/* A slip of the hand gets the name that was meant, and no list; the nearest of several. */
static void a_slip_is_answered_with_the_name(void **state) {
    (void)state;
    assert_refused("blocked:capcity=9", TAMIS_INVALID,
                   "blocked has no option 'capcity'; did you mean capacity?");
    assert_refused("blocked:Size=9", TAMIS_INVALID, "did you mean size?");
    assert_refused("bloked:capacity=9", TAMIS_INVALID,
                   "unknown kind 'bloked'; did you mean blocked?");
    size_t distance = 9;
    assert_true(tamis_is_slip("fuse", "fuse", &distance) && distance == 0);
    assert_true(tamis_is_slip("fues", "fuse", &distance) && distance == 1);
    assert_true(tamis_is_slip("us", "fus", &distance) && distance == 1);
    assert_false(tamis_is_slip("fx", "fuse", &distance));
    assert_false(tamis_is_slip("f", "fp", &distance));
    assert_false(tamis_is_slip("ab", "a", &distance) && distance >= 1);
    char longest[64] = "";
    memset(longest, 'a', 41);
    assert_false(tamis_is_slip(longest, longest, &distance));
}

/* Kinds of other systems hash keys their own way: options for that are unknown, or refused. */
static void foreign_kinds_know_no_hash(void **state) {
    (void)state;
    assert_refused("bip37:capacity=9,volume=4", TAMIS_INVALID,
                   "bip37 has no option 'volume'; it knows capacity, fpr");
    assert_refused("orc:capacity=9,hash=xxh3", TAMIS_INVALID,
                   "orc hashes keys its own way: no hash, seed or key");
    assert_refused("orc:capacity=9,seed=3", TAMIS_INVALID,
                   "orc hashes keys its own way: no hash, seed or key");
    assert_refused("orc:capacity=9,key=inside", TAMIS_INVALID,
                   "orc hashes keys its own way: no hash, seed or key");
    plan_of("orc:capacity=9");
}

static void names_that_are_too_long(void **state) {
    (void)state;
    char spec[TEXT];
    snprintf(spec, sizeof spec, "blocked:%0100d=1", 0);
    assert_refused(spec, TAMIS_INVALID, "is too long for a name=value");
    snprintf(spec, sizeof spec, "blocked:capacity=%0300d", 1);
    assert_refused(spec, TAMIS_INVALID, "is too long for a name=value");
}

/* countmin is sized by its own options; a rate beside them is still recorded. */
static void sized_by_its_own_options(void **state) {
    (void)state;
    assert_same_plan("countmin:error=1%,error-prob=1%", "countmin:error-prob=1%,error=1%");
    assert_same_plan("countmin:error=1%,error-prob=1%", "countmin:error=1%,error-prob=1%,fpr=1%");
    assert_true(plan_of("countmin:error=1%,error-prob=1%").fpr_asked == 0);
    assert_true(plan_of("countmin:error=1%,error-prob=1%,fpr=1%").fpr_asked == 0.01);
}

static void an_option_given_twice_is_refused(void **state) {
    (void)state;
    static const char *const twice[] = {"capacity=1,capacity=1",
                                        "capacity=1,fpr=1%,fpr=2%",
                                        "size=1K,fpr=1%,size=2K",
                                        "bits=999,fpr=1%,bits=999",
                                        "capacity=1,hash=xxh3,hash=xxh3",
                                        "capacity=1,seed=0,seed=0",
                                        "capacity=1,hash=sip13,key=inside,key=inside"};
    for (size_t i = 0; i < COUNT_OF(twice); i++) assert_refused(twice[i], TAMIS_INVALID, "twice");
    for (size_t i = 0; i < test_own_kinds(); i++)
        for (size_t o = 0; o < kind_at(i).option_count; o++) {
            const struct tamis_option *option = &kind_at(i).options[o];
            char spec[TEXT], value[TEXT];
            if (option->choices)
                snprintf(value, sizeof value, "%.*s", (int)strcspn(option->choices, "|"),
                         option->choices);
            else if (option->max)
                snprintf(value, sizeof value, "%llu", (unsigned long long)option->min);
            else
                snprintf(value, sizeof value, "1%%"); /* a rate */
            snprintf(spec, sizeof spec, "%s:capacity=1,%s=%.40s,%s=%.40s", kind_at(i).name,
                     option->name, value, option->name, value);
            assert_refused(spec, TAMIS_INVALID, "twice");
        }
}

static void a_value_that_is_missing_or_wrong_names_its_option(void **state) {
    (void)state;
    for (size_t c = 0; c < COUNT_OF(common); c++) {
        static const char *const wrong[] = {"", " ", "-1", "x", "nan", "1e-320", "=", "1=2"};
        for (size_t w = 0; w < COUNT_OF(wrong); w++) {
            char spec[TEXT];
            snprintf(spec, sizeof spec, "blocked:%s=%s", common[c], wrong[w]);
            assert_refused(spec, TAMIS_INVALID, common[c]);
        }
    }
    assert_refused("blocked:capacity", TAMIS_INVALID, "name=value");
    assert_refused("blocked:capacity=1,fpr", TAMIS_INVALID, "name=value");
    assert_refused("blocked:capacity=1,,fpr=1%", TAMIS_INVALID, "name=value");
    assert_refused("blocked:,", TAMIS_INVALID, "name=value");
    assert_refused("blocked:capacity:1", TAMIS_INVALID, "name=value");
}

static void two_of_capacity_fpr_and_size_fix_the_third(void **state) {
    (void)state;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        if (is_sketch(i)) continue; /* sized by its options */
        static const struct {
            const char *params, *about;
        } bad[] = {
            {"capacity=1K,fpr=1%,size=4K", "give two"},
            {"capacity=1K,fpr=1%,bits=4096", "give two"},
            {"fpr=1%", "capacity is missing"},
            {"size=4K", "capacity is missing"},
            {"bits=4096", "capacity is missing"},
            {"seed=1", "capacity is missing"},
            {"capacity=1K,size=4K,bits=4096", "size and bits"},
            {"capacity=1K,bits=4096,size=4K", "size and bits"},
        };
        for (size_t b = 0; b < COUNT_OF(bad); b++) {
            char spec[TEXT];
            snprintf(spec, sizeof spec, "%s:%s", kind_at(i).name, bad[b].params);
            assert_refused(spec, TAMIS_INVALID, bad[b].about);
        }
    }
    assert_refused("", TAMIS_INVALID, "capacity is missing");
    assert_refused(NULL, TAMIS_INVALID, "NULL");
}

/* ---- Options of the kinds ------------------------------------------------------------------- */

/* What the max of an option needs beside it: that many shards need as many blocks. */
static const char *room_for_max(const char *kind, const char *option) {
    if (strcmp(kind, "shard") != 0 || strncmp(option, "shard", 5) != 0) return "capacity=5000";
    return strcmp(option, "shard") == 0 ? "capacity=10T,shards=4294967295" : "capacity=10T";
}

static void every_choice_of_every_option_is_taken(void **state) {
    (void)state;
    unsigned tried = 0;
    for (size_t i = 0; i < test_own_kinds(); i++)
        for (size_t o = 0; o < kind_at(i).option_count; o++) {
            const struct tamis_option *option = &kind_at(i).options[o];
            char spec[TEXT];
            if (option->choices) {
                for (const char *p = option->choices; p; tried++) {
                    const int len = (int)strcspn(p, "|");
                    snprintf(spec, sizeof spec, "%s:capacity=5000,%s=%.*s", kind_at(i).name,
                             option->name, len, p);
                    plan_of(spec);
                    p = p[len] ? p + len + 1 : NULL;
                }
                snprintf(spec, sizeof spec, "%s:capacity=5000,%s=none-of-them", kind_at(i).name,
                         option->name);
                assert_refused(spec, TAMIS_INVALID, option->choices);
                continue;
            }
            if (option->max == 0) { /* a rate */
                snprintf(spec, sizeof spec, "%s:capacity=5000,%s=1%%", kind_at(i).name,
                         option->name);
                plan_of(spec);
                continue;
            }
            snprintf(spec, sizeof spec, "%s:capacity=5000,%s=%llu", kind_at(i).name, option->name,
                     (unsigned long long)option->min);
            plan_of(spec);
            snprintf(spec, sizeof spec, "%s:%s,%s=%llu", kind_at(i).name,
                     room_for_max(kind_at(i).name, option->name), option->name,
                     (unsigned long long)option->max);
            plan_of(spec);
            if (option->max < UINT64_MAX) {
                snprintf(spec, sizeof spec, "%s:capacity=5000,%s=%llu", kind_at(i).name,
                         option->name, (unsigned long long)option->max + 1);
                assert_refused(spec, TAMIS_INVALID, option->name);
            }
            tried += 2;
        }
    assert_true(tried >= 10); /* classic has five schemes and k, blocked k, split two rules */
}

static void chosen_words_are_kept(void **state) {
    (void)state;
    assert_int_equal(plan_of("classic:capacity=1K,bits=9999,hashes=5").word[0], 9999);
    for (unsigned k = 1; k <= 64; k++) {
        char spec[TEXT];
        snprintf(spec, sizeof spec, "classic:capacity=1K,fpr=1%%,hashes=%u", k);
        assert_int_equal(plan_of(spec).probes, k);
        snprintf(spec, sizeof spec, "classic:capacity=1K,bits=10000,hashes=%u", k);
        assert_int_equal(plan_of(spec).probes, k);
        snprintf(spec, sizeof spec, "blocked:capacity=1K,fpr=1%%,hashes=%u", k);
        if (k <= 8 || k == 16)
            assert_int_equal(plan_of(spec).probes, k);
        else
            assert_refused(spec, TAMIS_INVALID, "hashes");
    }
}

/* ---- Edges of numbers ----------------------------------------------------------------------- */

/* Values at the limits of 8, 16, 32 and 64 bits, for every number in a spec and every kind: each
 * gives a plan or a message, and what is planned can be created or is too large. */
static void numbers_at_the_edges_of_integers(void **state) {
    (void)state;
    static const char *const edges[] = {
        "0",
        "-1",
        "1",
        "7",
        "8",
        "255",
        "256",
        "65535",
        "65536",
        "2147483647",
        "2^31",
        "2^32",
        "4294967295",
        "4294967297",
        "9223372036854775807",
        "2^63",
        "2^56",
        "2^59",
        "72057594037927937", /* 2^56 + 1 */
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551615",
    };
    static const char *const forms[] = {
        "capacity=%s",           "capacity=%s,fpr=1e-12", "capacity=%s,bits=4096",
        "capacity=%s,size=2^40", "capacity=1000,bits=%s", "capacity=1000,size=%s",
        "fpr=1%%,bits=%s",       "fpr=1e-12,size=%s",     "capacity=1000,seed=%s",
        "capacity=1000,fpr=%s",  "capacity=2^56,bits=%s", "capacity=0,size=%s",
    };
    unsigned planned = 0, refused = 0;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        const struct tamis_kind_info kind = kind_at(i);
        for (size_t e = 0; e < COUNT_OF(edges); e++)
            for (size_t f = 0; f < COUNT_OF(forms) + kind.option_count; f++) {
                char params[TEXT / 2], spec[TEXT];
                if (f < COUNT_OF(forms))
                    snprintf(params, sizeof params, forms[f], edges[e]);
                else
                    snprintf(params, sizeof params, "capacity=1000,%s=%s",
                             kind.options[f - COUNT_OF(forms)].name, edges[e]);
                snprintf(spec, sizeof spec, "%s:%s", kind.name, params);
                const bool is_planned = ends_well(spec);
                const struct tamis_options small = {.struct_size = sizeof small,
                                                    .max_bytes = 1 << 20};
                tamis *filter;
                const tamis_status rc = make_empty(&filter, spec, &small);
                /* Kinds that are built once have the size that their keys need. */
                const bool is_both = rc == TAMIS_INVALID && strstr(tamis_why(), "not both");
                if (is_planned)
                    assert_true(rc == TAMIS_OK || rc == TAMIS_TOO_LARGE || is_both);
                else
                    assert_true(rc != TAMIS_OK);
                assert_true((rc == TAMIS_OK) == (filter != NULL));
                tamis_free(filter);
                planned += is_planned, refused += !is_planned;
            }
    }
    assert_true(planned > 100 && refused > 100);
}

/* A filter for 0 or 1 keys is still a filter: it takes a key, finds it, and keeps its rate. */
static void capacities_0_and_1_make_filters(void **state) {
    (void)state;
    for (size_t i = 0; i < test_own_kinds(); i++)
        for (unsigned capacity = 0; capacity <= 1 && !is_sketch(i); capacity++)
            for (double fpr = 0.9; fpr >= 1e-6; fpr /= 10) {
                char spec[TEXT];
                snprintf(spec, sizeof spec, "%s:capacity=%u,fpr=%g", kind_at(i).name, capacity,
                         fpr);
                const struct tamis_plan plan = plan_of(spec);
                assert_int_equal(plan.capacity, capacity);
                assert_true(plan.payload_bytes >= 8 && plan.probes >= 1);
                assert_true(plan.fpr_expected <= fpr);
                if (plan.payload_bytes > 1 << 24) continue;
                tamis *f = made(spec);
                assert_false(tamis_has(f, "cat", 3));
                if (kind_at(i).abilities & TAMIS_CAN_ADD) {
                    assert_int_equal(tamis_add(f, "cat", 3), TAMIS_OK);
                    assert_true(tamis_has(f, "cat", 3));
                    assert_true(tamis_fpr_now(f) <= fpr);
                }
                tamis_free(f);
            }
}

/* Sizes that would wrap: every plan has at least the bits that any filter needs, log2(1/p) per key,
 * and reports the same in bytes and in bits per key. */
static void large_params_never_wrap(void **state) {
    (void)state;
    unsigned planned = 0;
    for (size_t i = 0; i < test_own_kinds(); i++)
        for (unsigned power = 20; power <= 56 && !is_sketch(i); power++)
            for (double fpr = 0.1; fpr >= 1e-12; fpr /= 10) {
                char spec[TEXT];
                struct tamis_plan plan;
                snprintf(spec, sizeof spec, "%s:capacity=2^%u,fpr=%.17g", kind_at(i).name, power,
                         fpr);
                if (!ends_well(spec)) continue;
                plan = plan_of(spec);
                const double bits = 8 * (double)plan.payload_bytes, n = ldexp(1, (int)power);
                if (bits < n * -log2(fpr)) fail_msg("%s: only %.17g bits", spec, bits);
                assert_true(fabs(plan.bits_per_key * n - bits) <= bits * 1e-12);
                assert_true(plan.payload_bytes <= (uint64_t)1 << 56);
                assert_true(plan.stored_bytes > plan.payload_bytes);
                assert_true(plan.fpr_expected <= fpr);
                planned++;
            }
    assert_true(planned > 100);
    assert_refused("classic:capacity=2^56,fpr=1e-12", TAMIS_INVALID, "fpr");
    assert_refused("blocked:capacity=2^56,fpr=1e-12", TAMIS_INVALID, "fpr");
    assert_refused("split:capacity=2^56,fpr=1e-12", TAMIS_INVALID, "fpr");
    assert_refused("capacity=2^57", TAMIS_INVALID, "2^56");
}

static void rates_that_64_bit_hashes_cannot_keep_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < test_own_kinds(); i++) {
        char spec[TEXT];
        if (kind_at(i).abilities & TAMIS_OWN_HASH) continue;
        snprintf(spec, sizeof spec, "%s:capacity=2^40,fpr=1e-12", kind_at(i).name);
        assert_refused(spec, TAMIS_INVALID, "64-bit");
        snprintf(spec, sizeof spec, "%s:capacity=2^40,fpr=6e-8", kind_at(i).name); /* 2^-24 */
        assert_refused(spec, TAMIS_INVALID, "64-bit");
    }
    assert_true(plan_of("classic:capacity=2^40,fpr=1e-6").fpr_expected <= 1e-6);
}

/* ---- Long texts ----------------------------------------------------------------------------- */

static void long_texts_are_refused_with_a_short_sentence(void **state) {
    (void)state;
    enum { LONG = 100000 };
    char *text = malloc(LONG + TEXT);
    assert_non_null(text);
    static const char *const starts[] = {"",
                                         "blocked:",
                                         "blocked:capacity=",
                                         "capacity=1,",
                                         "classic:capacity=1,scheme=",
                                         "split:capacity=1,hash=",
                                         "blocked:capacity=1,key="};
    static const char *const fills[] = {"x", "9", "=", ":", "%s%n", "seed=1,", "\xff", "2^"};
    for (size_t s = 0; s < COUNT_OF(starts); s++)
        for (size_t f = 0; f < COUNT_OF(fills); f++) {
            size_t len = strlen(strcpy(text, starts[s]));
            for (; len < LONG; len += strlen(fills[f])) strcpy(text + len, fills[f]);
            assert_refused(text, TAMIS_INVALID, "");
            assert_true(strlen(tamis_why()) < 512);
        }
    strcpy(text, "blocked:"); /* spaces do not count */
    memset(text + 8, ' ', LONG);
    strcpy(text + 8 + LONG, "capacity=5000");
    assert_same_plan(text, "blocked:capacity=5000");
    free(text);
}

/* ---- Hash, seed and key --------------------------------------------------------------------- */

static void hash_seed_and_key_in_every_combination(void **state) {
    (void)state;
    static const struct {
        const char *params;
        bool has_secret;
        tamis_status status;
        const char *hash, *place; /* or what the message says */
    } all[] = {
        {"", false, TAMIS_OK, "xxh3", "none"},
        {",hash=xxh3", false, TAMIS_OK, "xxh3", "none"},
        {",hash=xxh64", false, TAMIS_OK, "xxh64", "none"},
        {",hash=sip13", false, TAMIS_OK, "sip13", "inside"},
        {",hash=sip13", true, TAMIS_OK, "sip13", "inside"},
        {",hash=sip13,key=inside", true, TAMIS_OK, "sip13", "inside"},
        {",key=outside,hash=sip13", true, TAMIS_OK, "sip13", "outside"},
        {",hash=xxh64,seed=5", false, TAMIS_OK, "xxh64", "none"},
        {",hash=sip13,seed=0", false, TAMIS_OK, "sip13", "inside"},
        {",hash=sip13,key=outside", false, TAMIS_SECRET, "secret", NULL},
        {"", true, TAMIS_INVALID, "hash=sip13", NULL},
        {",hash=xxh3", true, TAMIS_INVALID, "hash=sip13", NULL},
        {",key=inside", false, TAMIS_INVALID, "hash=sip13", NULL},
        {",key=outside", true, TAMIS_INVALID, "hash=sip13", NULL},
        {",hash=xxh64,key=outside", true, TAMIS_INVALID, "hash=sip13", NULL},
        {",hash=sip13,seed=5", false, TAMIS_INVALID, "seed", NULL},
        {",hash=sip13,key=none", false, TAMIS_INVALID, "inside or outside", NULL},
        {",hash=own", false, TAMIS_INVALID, "xxh3, xxh64, mix8 or sip13", NULL},
        {",hash=XXH3", false, TAMIS_INVALID, "xxh3, xxh64, mix8 or sip13", NULL},
        {",hash=murmur", false, TAMIS_INVALID, "xxh3, xxh64, mix8 or sip13", NULL},
    };
    for (size_t k = 0; k < test_own_kinds(); k++) {
        if (kind_at(k).abilities & TAMIS_OWN_HASH) continue;
        for (size_t i = 0; i < COUNT_OF(all); i++) {
            const struct tamis_options options = {.struct_size = sizeof options,
                                                  .secret = all[i].has_secret ? secret : NULL};
            char spec[TEXT];
            tamis *f;
            snprintf(spec, sizeof spec, "%s:capacity=1000%s", kind_at(k).name, all[i].params);
            forget_message();
            const tamis_status rc = make_empty(&f, spec, &options);
            if (rc != all[i].status) fail_msg("%s: status %d, %s", spec, rc, tamis_why());
            if (rc) {
                assert_null(f);
                assert_message(spec, all[i].hash);
                continue;
            }
            const struct tamis_info info = info_of(f);
            assert_string_equal(info.hash, all[i].hash);
            assert_string_equal(info.key_place, all[i].place);
            assert_int_equal(info.key_id != 0, strcmp(info.hash, "sip13") == 0);
            assert_int_equal(info.seed, strstr(spec, "seed=5") ? 5 : 0);
            tamis_free(f);
        }
    }
}

/* ---- There and back ------------------------------------------------------------------------- */

static void assert_spec_leads_back(const tamis *f, const char *spec) {
    char text[TEXT];
    const size_t len = tamis_spec(f, text, sizeof text);
    assert_int_equal(len, strlen(text));
    const struct tamis_plan plan = plan_of(text);
    const struct tamis_info info = info_of(f);
    /* A built filter's words follow from its keys; the filter made again is compared. */
    const bool is_built = info.abilities & TAMIS_IS_BUILT;
    if ((!is_built && memcmp(plan.word, info.word, sizeof plan.word) != 0) ||
        strcmp(plan.kind, info.kind) != 0)
        fail_msg("%s is described as %s, which has another shape", spec, text);
    assert_int_equal(plan.capacity, info.capacity);
    tamis *again = made(text);
    if (info.key_id == 0 || strcmp(info.key_place, "outside") == 0) {
        if (tamis_mismatch(f, again))
            fail_msg("%s is described as %s: %s", spec, text, tamis_why());
    } else {
        assert_string_equal(info_of(again).hash, info.hash); /* its secret is random */
    }
    tamis_free(again);

    char cut[12]; /* always terminated; the length is that of the whole */
    memset(cut, '!', sizeof cut);
    assert_int_equal(tamis_spec(f, cut, 8), len);
    assert_int_equal(strlen(cut), 7);
    assert_int_equal(cut[8], '!');
    assert_int_equal(strncmp(cut, text, 7), 0);
    assert_int_equal(tamis_spec(f, NULL, 0), len);
}

/* Returns the number of shapes described: the one made, and those it folds to. */
static unsigned there_and_back(const char *spec) {
    unsigned shapes = 1;
    if (plan_of(spec).payload_bytes > 1 << 22) return 0;
    tamis *f = made(spec);
    assert_spec_leads_back(f, spec);
    for (unsigned by = 2; by <= 3; by++)
        if (tamis_fold(f, by) == TAMIS_OK) {
            assert_spec_leads_back(f, spec);
            shapes++;
        }
    tamis_free(f);
    return shapes;
}

static void a_filter_describes_itself(void **state) {
    (void)state;
    static const char *const params[] = {
        "capacity=0",
        "capacity=1",
        "capacity=1000",
        "capacity=1000,fpr=1%",
        "capacity=200K,fpr=0.1%",
        "capacity=100000,fpr=1/3",
        "capacity=100000,fpr=0.0123456789",
        "capacity=100000,fpr=0.012345678912345",
        "capacity=99999,fpr=99.99%",
        "capacity=100K,fpr=2^-16",
        "capacity=77777,fpr=1e-6",
        "capacity=1000,size=4K",
        "capacity=1000,size=4160",
        "capacity=0,size=4K",
        "capacity=1000000,size=4K", /* hopelessly small, but what was asked for */
        "capacity=1000,bits=9999",
        "capacity=1000,bits=6144",
        "size=64K,fpr=0.1%",
        "bits=1M,fpr=1/777",
        "capacity=1000,seed=18446744073709551615",
        "capacity=1000,size=4K,seed=1,hash=xxh64",
        "capacity=1000,fpr=5%,hash=xxh64",
        "capacity=1000,fpr=5%,hash=sip13",
        "capacity=1000,fpr=5%,hash=sip13,key=outside",
        "capacity=1000,size=4K,hash=sip13,key=outside",
    };
    unsigned shapes = 0;
    for (size_t k = 0; k < test_own_kinds(); k++) {
        const struct tamis_kind_info kind = kind_at(k);
        for (size_t w = 0; w < COUNT_OF(params); w++) {
            char spec[TEXT];
            const bool fixes_both = strstr(params[w], "fpr=") && !strstr(params[w], "capacity=");
            if (kind.abilities & TAMIS_IS_BUILT && fixes_both) continue; /* refused, see above */
            snprintf(spec, sizeof spec, "%s:%s", kind.name, params[w]);
            if (!ends_well(spec)) continue; /* a kind that cannot keep such a rate */
            shapes += there_and_back(spec);
            for (size_t o = 0; o < kind.option_count; o++) {
                const struct tamis_option *option = &kind.options[o];
                char more[2 * TEXT];
                for (const char *p = option->choices; p;) {
                    const int len = (int)strcspn(p, "|");
                    snprintf(more, sizeof more, "%s,%s=%.*s", spec, option->name, len, p);
                    if (ends_well(more)) shapes += there_and_back(more);
                    p = p[len] ? p + len + 1 : NULL;
                }
                for (uint64_t v = option->min; !option->choices && v <= option->max;
                     v += 1 + v / 2) {
                    snprintf(more, sizeof more, "%s,%s=%llu", spec, option->name,
                             (unsigned long long)v);
                    if (ends_well(more)) shapes += there_and_back(more);
                    if (v > UINT64_MAX / 2) break; /* the next would wrap */
                }
            }
        }
    }
    assert_true(shapes > 500);
}

/* ---- Reading and changing the text ---------------------------------------------------------- */

static void assert_option(const char *spec, size_t i, const char *kind, const char *name,
                          const char *value) {
    struct tamis_spec_option option = TAMIS_SPEC_OPTION_INIT;
    assert_int_equal(tamis_spec_read(spec, i, &option), TAMIS_OK);
    assert_string_equal(option.kind, kind);
    assert_string_equal(option.name, name);
    assert_string_equal(option.value, value);
    assert_int_equal(option.struct_size, sizeof option);
}

static void a_spec_is_read_option_by_option(void **state) {
    (void)state;
    static const char spec[] = " scalable : kind = split , capacity=1M,";
    assert_option(spec, 0, "scalable", "kind", "split");
    assert_option(spec, 1, "scalable", "capacity", "1M");
    assert_option(spec, 2, "scalable", "", "");
    assert_option(spec, SIZE_MAX, "scalable", "", "");
    assert_option("capacity=1M", 0, "", "capacity", "1M");
    assert_option("gcs", 0, "gcs", "", "");
    assert_option("gcs:", 0, "gcs", "", "");
    assert_option("", 0, "", "", "");
    /* Whether the kind accepts it is another matter. */
    assert_option("nothing:like=it,like=it", 1, "nothing", "like", "it");
}

static void assert_unread(const char *spec, size_t i, const char *about) {
    struct tamis_spec_option option = {.struct_size = sizeof option, .name = "before"};
    char text[8] = "before";
    assert_int_equal(tamis_spec_read(spec, i, &option), TAMIS_INVALID);
    assert_message(spec ? spec : "NULL", about);
    assert_string_equal(option.name, "before");
    assert_int_equal(tamis_spec_set(spec, "fpr", "1%", NULL, 0), 0);
    assert_int_equal(tamis_spec_set(spec, "fpr", "1%", text, sizeof text), 0);
    assert_message(spec ? spec : "NULL", about);
    assert_string_equal(text, "");
}

static void what_is_not_a_spec_is_not_read(void **state) {
    (void)state;
    assert_unread(NULL, 0, "NULL");
    assert_unread(":capacity=1", 0, "unknown kind ''");
    assert_unread("a kind with a name that is not a name:capacity=1", 0, "unknown kind");
    assert_unread("gcs:capacity", 0, "'capacity' should be name=value");
    assert_unread("gcs:capacity=1,,fpr=1%", 1, "'' should be name=value");
    assert_unread("gcs:capacity=1,,fpr=1%", 9, "'' should be name=value");
    assert_unread("gcs:a name that is longer than names are=1", 0, "too long");
    /* An empty name would look like the end. */
    struct tamis_spec_option option = TAMIS_SPEC_OPTION_INIT;
    assert_int_equal(tamis_spec_read("gcs:=5", 0, &option), TAMIS_INVALID);
    assert_message("gcs:=5", "'=5' should be name=value");
}

static void an_older_header_has_a_shorter_option(void **state) {
    (void)state;
    struct tamis_spec_option option;
    memset(&option, 'x', sizeof option);
    option.struct_size = offsetof(struct tamis_spec_option, value);
    assert_int_equal(tamis_spec_read("gcs:capacity=1", 0, &option), TAMIS_OK);
    assert_string_equal(option.name, "capacity");
    assert_int_equal(option.value[0], 'x');
}

static void assert_set(const char *spec, const char *name, const char *value, const char *result) {
    char text[TEXT], little[5] = "....";
    assert_int_equal(tamis_spec_set(spec, name, value, NULL, 0), strlen(result));
    assert_int_equal(tamis_spec_set(spec, name, value, text, sizeof text), strlen(result));
    assert_string_equal(text, result);
    assert_int_equal(tamis_spec_set(spec, name, value, little, sizeof little), strlen(result));
    assert_memory_equal(little, result, sizeof little - 1);
    assert_int_equal(little[sizeof little - 1], 0);
}

static void an_option_is_set_or_added(void **state) {
    (void)state;
    assert_set("gcs:capacity=1,fpr=1%", "capacity", "2M", "gcs:capacity=2M,fpr=1%");
    assert_set("gcs:capacity=1", "fpr", "1%", "gcs:capacity=1,fpr=1%");
    assert_set(" gcs : capacity = 1 ,", "fpr", "1%", "gcs:capacity=1,fpr=1%");
    assert_set("gcs", "fpr", "1%", "gcs:fpr=1%");
    assert_set("gcs:", "fpr", "1%", "gcs:fpr=1%");
    assert_set("capacity=1", "fpr", "1%", "capacity=1,fpr=1%");
    assert_set("", "fpr", "1%", "fpr=1%");
    assert_set("capacity=1", NULL, "gcs", "gcs:capacity=1");
    assert_set("blocked:capacity=1", NULL, "gcs", "gcs:capacity=1");
    assert_set("", NULL, "quotient", "quotient");
    /* The kind of the stages is an option, not the kind itself. */
    assert_set("scalable:kind=split", "kind", "classic", "scalable:kind=classic");
    assert_set("scalable:kind=split", NULL, "blocked", "blocked:kind=split");
}

static void what_would_be_read_otherwise_is_not_set(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *about;
    } bad[] = {{"fpr", "1%,seed=1", "'1%,seed=1' cannot be a value"},
               {"fpr", "", "'' cannot be a value"},
               {"", "1%", "'' cannot be a name"},
               {"fpr=1%,seed", "1", "cannot be a name"},
               {"a:b", "1", "'a:b' cannot be a name"},
               {NULL, "", "'' cannot be a kind"},
               {NULL, "gcs:fpr=1%", "cannot be a kind"},
               {NULL, "a kind with a name that is not a name", "cannot be a kind"}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char text[TEXT] = "before";
        assert_int_equal(tamis_spec_set("gcs", bad[i].name, bad[i].value, text, sizeof text), 0);
        assert_message(bad[i].value, bad[i].about);
        assert_string_equal(text, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_alone_lacks_its_capacity),
        cmocka_unit_test(without_a_kind_it_is_blocked),
        cmocka_unit_test(an_unknown_kind_is_answered_with_the_list),
        cmocka_unit_test(spaces_and_order_do_not_matter),
        cmocka_unit_test(one_percent_is_the_rate_when_none_is_given),
        cmocka_unit_test(size_and_bits_say_the_same),
        cmocka_unit_test(an_unknown_option_is_answered_with_the_list),
        cmocka_unit_test(a_slip_is_answered_with_the_name),
        cmocka_unit_test(foreign_kinds_know_no_hash),
        cmocka_unit_test(names_that_are_too_long),
        cmocka_unit_test(sized_by_its_own_options),
        cmocka_unit_test(an_option_given_twice_is_refused),
        cmocka_unit_test(a_value_that_is_missing_or_wrong_names_its_option),
        cmocka_unit_test(two_of_capacity_fpr_and_size_fix_the_third),
        cmocka_unit_test(every_choice_of_every_option_is_taken),
        cmocka_unit_test(chosen_words_are_kept),
        cmocka_unit_test(numbers_at_the_edges_of_integers),
        cmocka_unit_test(capacities_0_and_1_make_filters),
        cmocka_unit_test(large_params_never_wrap),
        cmocka_unit_test(rates_that_64_bit_hashes_cannot_keep_are_refused),
        cmocka_unit_test(long_texts_are_refused_with_a_short_sentence),
        cmocka_unit_test(hash_seed_and_key_in_every_combination),
        cmocka_unit_test(a_filter_describes_itself),
        cmocka_unit_test(a_spec_is_read_option_by_option),
        cmocka_unit_test(what_is_not_a_spec_is_not_read),
        cmocka_unit_test(an_older_header_has_a_shorter_option),
        cmocka_unit_test(an_option_is_set_or_added),
        cmocka_unit_test(what_would_be_read_otherwise_is_not_set),
    };
    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
