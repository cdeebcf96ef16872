/* SPDX-License-Identifier: MIT */
/* cuckoo: one key over and over, counts against an exact model, and bytes that the gate refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "bits/packed.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"

static bool is_all_zero(const tamis *f) {
    uint64_t size;
    const uint8_t *p = tamis_payload(f, &size);
    for (uint64_t i = 0; i < size; i++)
        if (p[i]) return false;
    return true;
}

/* Vectors from docs/format.md: eight adds of a hash fill its two buckets with its fingerprint, in
 * order, and the ninth goes to the stash. */
static void known_hashes_have_known_cells(void **state) {
    (void)state;
    static const struct {
        uint64_t hash, value, bucket[2];
    } known[] = {{0x42548a8a111c54ee, 151, {2, 8}}, {0xe41f5c6dbce1fa41, 233, {8, 0}}};
    for (size_t i = 0; i < 2; i++) {
        tamis *f = test_make("cuckoo:capacity=30,bits=896"); /* 10 buckets of 4 cells of 8 bits */
        for (unsigned adds = 0; adds < 8; adds++) {
            assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
            const uint64_t at = 72 * 8 + 32 * known[i].bucket[adds / 4] + 8 * (adds % 4);
            assert_int_equal(test_bits_at(f, at, 8), known[i].value);
        }
        assert_int_equal(test_bits_at(f, 0, 64), 8);
        assert_int_equal(test_bits_at(f, 64, 64), 0);
        assert_int_equal(tamis_add_hash(f, known[i].hash), TAMIS_OK);
        const uint64_t waiting = test_bits_at(f, 64, 64);
        assert_int_equal(waiting & 0xff, known[i].value);
        assert_true(waiting >> 8 == known[i].bucket[0] || waiting >> 8 == known[i].bucket[1]);
        tamis_free(f);
    }
}

enum { CELLS_OF_TWO_BUCKETS = 8, STASH = 8 };

/* Adds the key until it is refused, and requires that the refusal changes no bit. */
static uint64_t add_over_and_over(tamis *f, uint64_t hash) {
    uint64_t times = 0;
    tamis *old = test_copy(f);
    while (tamis_add_hash(f, hash) == TAMIS_OK) {
        times++;
        tamis_free(old);
        old = test_copy(f);
    }
    assert_true(test_is_same_payload(f, old));
    tamis_free(old);
    return times;
}

static void cuckoo_refuses_a_key_that_filled_its_buckets(void **state) {
    (void)state;
    for (int sort = 0; sort < 2; sort++)
        for (uint64_t k = 0; k < 50; k++) {
            tamis *f = test_make("cuckoo:capacity=1000,fpr=1%%,sort=%s", sort ? "yes" : "no");
            const uint64_t hash = test_number(1, k);
            const uint64_t times = add_over_and_over(f, hash);
            /* Both buckets may be the same, with four cells. */
            assert_true(times == CELLS_OF_TWO_BUCKETS + STASH || times == 4 + STASH);
            assert_non_null(strstr(tamis_why(), "again"));
            assert_int_equal(test_info(f).affected, STASH);
            assert_true(test_info(f).caveat[0] != '\0');
            /* Others still find room, except one that has only these buckets. */
            bool is_there[900];
            unsigned refused = 0;
            for (uint64_t i = 0; i < 900; i++) {
                is_there[i] = tamis_add_hash(f, test_number(2, i)) == TAMIS_OK;
                refused += !is_there[i];
            }
            assert_true(refused <= 1);
            for (uint64_t i = 0; i < 900; i++)
                if (is_there[i]) assert_true(tamis_has_hash(f, test_number(2, i)));
            for (uint64_t i = 0; i < 900; i++)
                if (is_there[i])
                    assert_int_equal(tamis_remove_hash(f, test_number(2, i)), TAMIS_OK);
            for (uint64_t i = 0; i < times; i++) {
                assert_true(tamis_has_hash(f, hash));
                assert_int_equal(tamis_remove_hash(f, hash), TAMIS_OK);
                /* Stashed fingerprints move to their bucket as soon as a cell is free. */
                assert_int_equal(test_bits_at(f, 64, 64) != 0, i + 1 < STASH);
            }
            assert_int_equal(tamis_remove_hash(f, hash), TAMIS_NOT_FOUND);
            assert_true(is_all_zero(f));
            tamis_free(f);
        }
}

enum { KEYS = 400, STEPS = 60000 };

/* Random adds and removals of few keys, so that tables are full at times. At this low rate no two
 * keys collide, and answers are exact. */
static void cuckoo_is_a_multiset(void **state) {
    (void)state;
    for (int sort = 0; sort < 2; sort++) {
        tamis *f = test_make("cuckoo:capacity=800,fpr=1e-9,sort=%s", sort ? "yes" : "no");
        uint64_t count[KEYS] = {0}, all = 0;
        for (uint64_t i = 0; i < STEPS; i++) {
            const uint64_t k = test_number(1, i) % KEYS, hash = test_number(2, k);
            const bool is_add = test_number(3, i) % 16 < (i / 3000 % 2 ? 6 : 10);
            const tamis_status rc = is_add ? tamis_add_hash(f, hash) : tamis_remove_hash(f, hash);
            if (!is_add) assert_int_equal(rc, count[k] ? TAMIS_OK : TAMIS_NOT_FOUND);
            if (is_add && rc) assert_int_equal(rc, TAMIS_FULL);
            if (rc == TAMIS_OK) {
                count[k] = is_add ? count[k] + 1 : count[k] - 1;
                all = is_add ? all + 1 : all - 1;
            }
            assert_int_equal(test_bits_at(f, 0, 64), all);
            if (i % 64 == 0)
                for (uint64_t j = 0; j < KEYS; j++)
                    assert_int_equal(tamis_has_hash(f, test_number(2, j)), count[j] > 0);
        }
        uint64_t distinct = 0;
        for (uint64_t j = 0; j < KEYS; j++) distinct += count[j] > 0;
        assert_true(fabs(test_info(f).items_now.value - (double)distinct) < 1e-3);
        for (uint64_t j = 0; j < KEYS; j++)
            while (count[j]--) assert_int_equal(tamis_remove_hash(f, test_number(2, j)), TAMIS_OK);
        assert_true(is_all_zero(f));
        tamis_free(f);
    }
}

static void a_false_stash_is_refused(void **state) {
    (void)state;
    tamis *f = test_make("cuckoo:capacity=1000,fpr=1%%");
    size_t size;
    uint8_t *image = test_image(f, &size);
    const uint64_t buckets = test_info(f).word[0], width = test_info(f).word[1];
    tamis__put64(image + TEST_HEADER_BYTES, 1);
    assert_true(test_takes_word(image, size, 1, (buckets - 1) << width | 1));
    assert_false(test_takes_word(image, size, 1, buckets << width | 1)); /* no such bucket */
    assert_false(test_takes_word(image, size, 1, 1 << width));           /* an empty fingerprint */
    assert_false(test_takes_word(image, size, 2, 1));                    /* a gap before it */
    assert_false(test_takes_word(image, size, 1, 0)); /* nothing, though used is 1 */
    free(image);
    tamis_free(f);
}

static void unsorted_buckets_are_refused(void **state) {
    (void)state;
    tamis *f = test_make("cuckoo:capacity=10,bits=1024,sort=yes");
    size_t size;
    uint8_t *image = test_image(f, &size);
    const unsigned width = (unsigned)test_info(f).word[1];
    uint8_t *cells = image + TEST_HEADER_BYTES + 72, *head = image + TEST_HEADER_BYTES;
    tamis__put64(head, 4);
    tamis__bits_put(cells, 0, 12, 3875); /* the last code: four times 15 */
    assert_int_equal(test_load_resealed(image, size, NULL), TAMIS_OK);
    tamis__bits_put(cells, 0, 12, 3876);
    assert_int_equal(test_load_resealed(image, size, NULL), TAMIS_CORRUPT);
    tamis__bits_put(cells, 0, 12, 4095);
    assert_int_equal(test_load_resealed(image, size, NULL), TAMIS_CORRUPT);
    tamis__bits_put(cells, 0, 12, 3875);
    tamis__bits_put(cells, 12, width - 4, 1); /* equal nibbles, the rest descending */
    assert_int_equal(test_load_resealed(image, size, NULL), TAMIS_CORRUPT);
    free(image);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_have_known_cells),
        cmocka_unit_test(cuckoo_refuses_a_key_that_filled_its_buckets),
        cmocka_unit_test(cuckoo_is_a_multiset),
        cmocka_unit_test(a_false_stash_is_refused),
        cmocka_unit_test(unsorted_buckets_are_refused),
    };
    return cmocka_run_group_tests_name("cuckoo", tests, NULL, NULL);
}
