/* SPDX-License-Identifier: MIT */
/* dleft counts to three and sticks there: against an exact model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "kinds/kind.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Vectors from docs/format.md: while all buckets are empty, a key is in the first of its four, with
 * its count above its remainder. */
static void known_hashes_have_known_cells(void **state) {
    (void)state;
    static const struct {
        uint64_t hash, remainder, bucket;
    } known[] = {{0x42548a8a111c54ee, 151, 3}, {0xe41f5c6dbce1fa41, 233, 5}};
    tamis *f = test_make("dleft:capacity=240,size=408"); /* 10 buckets per quarter, 10-bit cells */
    for (size_t i = 0; i < 2; i++)
        for (uint64_t count = 1; count <= 3; count++) {
            assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
            assert_int_equal(test_bits_at(f, 64 + 80 * known[i].bucket, 10),
                             count << 8 | known[i].remainder);
        }
    assert_int_equal(test_bits_at(f, 0, 64), 2);
    tamis_free(f);
}

static void dleft_counts_to_three_and_sticks(void **state) {
    (void)state;
    tamis *f = test_make("dleft:capacity=100,fpr=0.001"), *stuck;
    const uint64_t hash = test_number(1, 1);
    for (uint64_t i = 1; i <= 1000000; i++) {
        assert_int_equal(tamis_add_hash(f, hash), TAMIS_OK);
        if (i < 10) assert_int_equal(tamis_count_hash(f, hash), i < 3 ? i : 3);
    }
    assert_int_equal(test_bits_at(f, 0, 64), 1);
    assert_int_equal(test_info(f).affected, 1);
    assert_non_null(strstr(test_info(f).caveat, "1 cells are stuck at 3"));
    stuck = test_copy(f);
    for (int i = 0; i < 5; i++) assert_int_equal(tamis_remove_hash(f, hash), TAMIS_OK);
    assert_true(test_is_same_payload(f, stuck)); /* it stays: a key is never lost */
    tamis_free(stuck);
    tamis_free(f);
}

enum { KEYS = 400, STEPS = 60000 };

static void dleft_counts_as_a_model_does(void **state) {
    (void)state;
    tamis *f = test_make("dleft:capacity=380,fpr=1e-9");
    uint64_t count[KEYS] = {0}; /* 3: stuck */
    for (uint64_t i = 0; i < STEPS; i++) {
        const uint64_t k = test_number(4, i) % KEYS, hash = test_number(5, k);
        /* Few keys reach three; otherwise all would soon be stuck. */
        const bool is_add = test_number(6, i) % 16 < (k % 16 == 0 ? 9 : count[k] ? 1 : 9);
        const tamis_status rc = is_add ? tamis_add_hash(f, hash) : tamis_remove_hash(f, hash);
        if (!is_add) assert_int_equal(rc, count[k] ? TAMIS_OK : TAMIS_NOT_FOUND);
        if (is_add && rc) assert_int_equal(rc, TAMIS_FULL);
        if (rc == TAMIS_OK && count[k] < 3) count[k] = is_add ? count[k] + 1 : count[k] - 1;
        if (i % 64 == 0)
            for (uint64_t j = 0; j < KEYS; j++)
                assert_int_equal(tamis_count_hash(f, test_number(5, j)), count[j]);
    }
    uint64_t stuck = 0, cells = 0;
    for (uint64_t j = 0; j < KEYS; j++) stuck += count[j] == 3, cells += count[j] > 0;
    assert_true(stuck > 0 && stuck < cells);
    assert_int_equal(test_info(f).affected, stuck);
    assert_int_equal(test_bits_at(f, 0, 64), cells);
    tamis_free(f);
}

/* Core checks the room before it adds, so the kind is called directly. Counts of 2 in the batch
 * would become 3, and stuck, before it fails. */
static void a_failed_batch_leaves_no_count_stuck(void **state) {
    (void)state;
    const tamis_kind *kind = tamis__kind_by_name("dleft", 5)->kind;
    tamis_body f = {.word = {3, 12}};
    assert_int_equal(kind->check(f.word, &f.size), TAMIS_OK);
    uint8_t *bytes = calloc(1, (size_t)f.size), *old = malloc((size_t)f.size);
    uint64_t batch[200];
    f.bytes = bytes;
    for (uint64_t i = 0; i < 30; i++) {
        batch[0] = batch[1] = test_number(1, i);
        assert_int_equal(kind->add(&f, tamis__hashes(batch, 1 + i % 2)), TAMIS_OK);
    }
    memcpy(old, bytes, (size_t)f.size);
    for (uint64_t i = 0; i < COUNT_OF(batch); i++)
        batch[i] = i % 2 ? test_number(1, i % 30) : test_number(2, i);
    assert_int_equal(kind->add(&f, tamis__hashes(batch, COUNT_OF(batch))), TAMIS_FULL);
    assert_memory_equal(bytes, old, (size_t)f.size);
    assert_int_equal(kind->audit(&f), TAMIS_OK);
    free(bytes);
    free(old);
}

static void half_cells_of_dleft_are_refused(void **state) {
    (void)state;
    tamis *f = test_make("dleft:capacity=10,fpr=1%%");
    size_t size;
    uint8_t *image = test_image(f, &size);
    const unsigned width = (unsigned)test_info(f).word[1];
    tamis__put64(image + TEST_HEADER_BYTES, 1);
    assert_true(test_takes_word(image, size, 1, (uint64_t)1 << width | 1));
    assert_false(test_takes_word(image, size, 1, 1));                    /* a remainder, no count */
    assert_false(test_takes_word(image, size, 1, (uint64_t)3 << width)); /* a count, no remainder */
    free(image);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_cells),
        cmocka_unit_test(dleft_counts_to_three_and_sticks),
        cmocka_unit_test(dleft_counts_as_a_model_does),
        cmocka_unit_test(a_failed_batch_leaves_no_count_stuck),
        cmocka_unit_test(half_cells_of_dleft_are_refused),
    };
    return cmocka_run_group_tests_name("dleft", tests, NULL, NULL);
}
