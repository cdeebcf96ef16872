/* SPDX-License-Identifier: MIT */
/* The shapes of kinds of several arrays: layered, attenuated, retouched and composite. What is
 * specific to each kind is in the file of its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "kinds/kind.h"
#include "tamis.h"
#include "tamis_engine.h"
#include "tests/support/arrays.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { TEXT = 256 };

/* The first array is a classic filter, bit for bit, whatever follows it. */
static void the_first_array_is_classic(void **state) {
    (void)state;
    static const char *const specs[] = {"layered:capacity=3000", "attenuated:capacity=3000",
                                        "retouched:capacity=3000",
                                        "composite:capacity=3000,removed=7"};
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis *f = test_make("%s", specs[s]);
        const struct tamis_info info = test_info(f);
        tamis *classic =
            test_make("classic:capacity=3000,bits=%llu,hashes=%llu",
                      (unsigned long long)info.word[0], (unsigned long long)info.word[1]);
        for (uint64_t i = 0; i < 3000; i++) {
            bool is_new; /* false positives would climb to the second layer */
            assert_int_equal(tamis_add_new_hash(f, test_number(1, i), &is_new), TAMIS_OK);
            assert_int_equal(tamis_add_new_hash(classic, test_number(1, i), &is_new), TAMIS_OK);
        }
        assert_memory_equal(test_payload(f), test_payload(classic), (size_t)info.word[0] / 8);
        tamis_free(f);
        tamis_free(classic);
    }
}

static void sizes_follow_from_the_words(void **state) {
    (void)state;
    for (unsigned layers = 1; layers <= 64; layers += 7)
        for (unsigned shrink = 0; shrink <= 90; shrink += 15) {
            tamis *f = test_make("layered:capacity=1000,layers=%u,shrink=%u", layers, shrink);
            uint64_t bits = 0;
            for (unsigned i = 0; i < layers; i++) bits += test_array_bits(f, 100 - shrink, i);
            assert_int_equal(test_info(f).payload_bytes * 8, bits);
            assert_int_equal(test_info(f).reliable_count, layers);
            tamis_free(f);
        }
    tamis *f = test_make("attenuated:capacity=1000,levels=5");
    assert_int_equal(test_info(f).payload_bytes, 5 * (test_info(f).word[0] / 8 + 8));
    tamis_free(f);
    f = test_make("retouched:capacity=1000");
    assert_int_equal(test_info(f).payload_bytes, 2 * test_info(f).word[0] / 8);
    tamis_free(f);
}

/* A size is filled until no further word of the first array fits; below the minimum size, the error
 * message names it. */
static void sizes_are_used_up(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t min_bits;
    } kinds[] = {{"layered:capacity=50,layers=3", 192},
                 {"layered:capacity=50,layers=3,shrink=50", 192},
                 {"attenuated:capacity=50,levels=2", 256},
                 {"retouched:capacity=50", 128},
                 {"composite:capacity=50,removed=10", 128}};
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (uint64_t bits = 1; bits < 9000; bits += 61) {
            char spec[TEXT], min[TEXT];
            struct tamis_plan plan = TAMIS_PLAN_INIT;
            snprintf(spec, sizeof spec, "%s,bits=%llu", kinds[k].spec, (unsigned long long)bits);
            snprintf(min, sizeof min, "%llu bits", (unsigned long long)kinds[k].min_bits);
            const tamis_status rc = tamis_plan_spec(spec, &plan);
            if (bits < kinds[k].min_bits) {
                assert_int_equal(rc, TAMIS_INVALID);
                assert_non_null(strstr(tamis_why(), min));
                continue;
            }
            assert_int_equal(rc, TAMIS_OK);
            assert_true(plan.payload_bytes * 8 <= bits);
            assert_true(plan.payload_bytes * 8 + 3 * 64 + 64 > bits);
        }
}

/* Forged words: the kind's own check refuses illegal ones, before any sizes are compared. */
static void illegal_words_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        unsigned word;
        uint64_t value;
    } bad[] = {
        {"layered", 0, 0},
        {"layered", 0, 65},
        {"layered", 0, (uint64_t)1 << 63},
        {"layered", 0, (uint64_t)1 << 59}, /* legal for one layer, not for four */
        {"layered", 0, ~(uint64_t)63},
        {"layered", 1, 0},
        {"layered", 1, 65},
        {"layered", 2, 0},
        {"layered", 2, 65},
        {"layered", 2, UINT64_MAX},
        {"layered", 3, 91},
        {"layered", 3, 101},
        {"layered", 3, UINT64_MAX},
        {"attenuated", 0, 0},
        {"attenuated", 0, 1},
        {"attenuated", 1, UINT64_MAX},
        {"attenuated", 2, 0},
        {"attenuated", 2, 17},
        {"attenuated", 2, (uint64_t)1 << 61},
        {"retouched", 0, 0},
        {"retouched", 0, 127},
        {"retouched", 1, 0},
        {"retouched", 1, 65},
        {"composite", 0, 0},
        {"composite", 0, (uint64_t)1 << 60},
        {"composite", 1, 0},
        {"composite", 2, 0},
        {"composite", 2, 101},
        {"composite", 2, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const tamis_kind *kind = tamis__kind_by_name(bad[i].kind, strlen(bad[i].kind))->kind;
        uint64_t word[TAMIS_WORDS] = {640, 3, 4, 5}, size; /* legal for each of them */
        if (kind->word[3] == NULL) word[3] = 0;
        assert_int_equal(kind->check(word, &size), TAMIS_OK);
        word[bad[i].word] = bad[i].value;
        if (kind->check(word, &size) != TAMIS_CORRUPT)
            fail_msg("%s with word %u = %llu is not refused", bad[i].kind, bad[i].word,
                     (unsigned long long)bad[i].value);
    }
    /* 64 layers of 2^58 bytes: the sum would wrap to 0. */
    const uint64_t wraps[TAMIS_WORDS] = {(uint64_t)1 << 61, 3, 64, 0};
    uint64_t size;
    assert_int_equal(tamis__kind_by_name("layered", 7)->kind->check(wraps, &size), TAMIS_CORRUPT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_array_is_classic),
        cmocka_unit_test(sizes_follow_from_the_words),
        cmocka_unit_test(sizes_are_used_up),
        cmocka_unit_test(illegal_words_are_refused),
    };
    return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
