/* SPDX-License-Identifier: MIT */
/* compaction leaves keys out whose fingerprint is met on the way, and knows how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const char *const probings[] = {"uniform", "linear", "double"};

static void compaction_takes_a_key_once(void **state) {
    (void)state;
    for (size_t p = 0; p < COUNT_OF(probings); p++) {
        tamis *f = test_make("compaction:capacity=100,fpr=0.1%%,probing=%s", probings[p]);
        tamis *once = NULL;
        const uint64_t hash = test_number(1, 1);
        for (uint64_t i = 0; i < 1000000; i++) {
            assert_int_equal(tamis_add_hash(f, hash), TAMIS_OK);
            if (i == 0) once = test_copy(f);
        }
        assert_int_equal(test_bits_at(f, 0, 64), 1);
        assert_true(test_is_same_payload(f, once));
        tamis_free(once);
        tamis_free(f);
    }
}

/* The law of distinct keys: what was omitted is made up for, within its error. */
static void omitted_keys_are_estimated(void **state) {
    (void)state;
    enum { N = 20000 };
    for (size_t p = 0; p < COUNT_OF(probings); p++) {
        tamis *f = test_make("compaction:capacity=%d,fpr=5%%,probing=%s", N, probings[p]);
        test_add_hashes(f, p, 0, N);
        const struct tamis_estimate items = test_info(f).items_now;
        assert_true(test_bits_at(f, 0, 64) < N - 100); /* else there is nothing to estimate */
        assert_true(fabs(items.value - N) < 6 * items.error && items.error < 0.002 * N);
        tamis_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compaction_takes_a_key_once),
        cmocka_unit_test(omitted_keys_are_estimated),
    };
    return cmocka_run_group_tests_name("compaction", tests, NULL, NULL);
}
