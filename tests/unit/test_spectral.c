/* SPDX-License-Identifier: MIT */
/* spectral: what its modes promise, and how rarely a count is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tamis.h"
#include "tests/support/bounds.h"
#include "tests/support/contents.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"

static uint64_t luck;
static uint64_t draw(uint64_t below) {
    return test_number(77, luck++) % below;
}

/* Never below the true count where that is promised, and never above select in better modes. */
static void modes_keep_their_order(void **state) {
    (void)state;
    enum { N = 20000 };
    static uint64_t truth[N];
    memset(truth, 0, sizeof truth);
    tamis *f[3];
    static const char *const modes[] = {"select", "increase", "recurring"};
    for (int i = 0; i < 3; i++)
        f[i] = test_make("spectral:capacity=%d,fpr=5%%,width=6,mode=%s", N, modes[i]);
    for (uint64_t i = 0; i < 10 * N; i++) {
        const uint64_t a = draw(N), b = draw(N), key = a * b / N;
        truth[key]++;
        for (int j = 0; j < 3; j++) tamis_add_u64(f[j], key);
    }
    uint64_t over[3] = {0}, under = 0, keys = 0;
    for (uint64_t key = 0; key < N; key++) {
        const uint64_t sure = truth[key] < 63 ? truth[key] : 63;
        const uint64_t selected = tamis_count_u64(f[0], key);
        keys += truth[key] > 0;
        for (int j = 0; j < 3; j++) {
            const uint64_t count = tamis_count_u64(f[j], key);
            assert_true(count <= selected && (count > 0) == (selected > 0));
            if (j < 2) assert_true(count >= sure);
            over[j] += count > sure && truth[key] > 0;
            under += count < sure;
        }
    }
    assert_true(over[1] < over[0] && over[2] < over[0]);
    assert_true(under < keys / 200);
    for (int j = 0; j < 3; j++) tamis_free(f[j]);
}

/* The primary cells of recurring are those of select, after any adds and removes: `has` does not
 * depend on the secondary. */
static void recurring_has_what_select_has(void **state) {
    (void)state;
    enum { CELLS = 200, KEYS = 60 };
    tamis *f = test_make("spectral:capacity=30,bits=%d,mode=recurring,hashes=4", CELLS * 12);
    tamis *g = test_make("spectral:capacity=30,bits=%d,hashes=4", CELLS * 8);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t key = draw(KEYS);
        if (draw(2))
            assert_int_equal(tamis_add_u64(f, key), tamis_add_u64(g, key));
        else
            assert_int_equal(tamis_remove_u64(f, key), tamis_remove_u64(g, key));
        assert_memory_equal(test_payload(f), test_payload(g), CELLS);
        const uint64_t asked = draw(KEYS), count = tamis_count_u64(f, asked);
        assert_int_equal(tamis_has_u64(f, asked), tamis_has_u64(g, asked));
        assert_int_equal(count > 0, tamis_has_u64(g, asked));
        assert_true(count <= tamis_count_u64(g, asked));
    }
    tamis_free(f);
    tamis_free(g);
}

static void modes_say_what_they_lack(void **state) {
    (void)state;
    const unsigned others = TAMIS_CAN_MERGE | TAMIS_CAN_FOLD | TAMIS_ANY_ORDER;
    const unsigned all = others | TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    assert_int_equal(test_plan("spectral:capacity=9").abilities & all, all);
    assert_int_equal(test_plan("spectral:capacity=9,mode=increase").abilities & all,
                     TAMIS_CAN_COUNT);
    assert_int_equal(test_plan("spectral:capacity=9,mode=recurring").abilities & all,
                     TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE);
    assert_int_equal(test_plan("spectral:capacity=9").reliable_count, 255);
    assert_int_equal(test_plan("spectral:capacity=9,mode=increase,width=16").reliable_count, 65535);
    assert_int_equal(test_plan("spectral:capacity=9,mode=recurring").reliable_count, 1);
    assert_int_equal(test_plan("counting:capacity=9,width=2").reliable_count, 3);
    tamis *f = test_make("spectral:capacity=9,mode=increase");
    tamis_add_u64(f, 1);
    assert_int_equal(tamis_remove_u64(f, 1), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_merge(f, f), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_fold(f, 2), TAMIS_UNSUPPORTED);
    assert_int_equal(tamis_count_u64(f, 1), 1);
    tamis_free(f);
}

/* A count of select is wrong as often as a non-member is answered yes. */
static void counts_are_wrong_as_rarely_as_promised(void **state) {
    (void)state;
    enum { N = 100000 };
    tamis *f = test_make("spectral:capacity=%d,fpr=1%%", N);
    for (uint64_t i = 0; i < N; i++) tamis_add_u64(f, test_number(6, i));
    for (uint64_t i = 0; i < N; i += 5) tamis_add_u64(f, test_number(6, i));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < N; i++)
        wrong += tamis_count_u64(f, test_number(6, i)) != 1 + (i % 5 == 0);
    if (!test_is_possible(wrong, N, tamis_fpr_now(f), TEST_ALPHA))
        fail_msg("%llu of %d counts are wrong", (unsigned long long)wrong, N);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_keep_their_order),
        cmocka_unit_test(recurring_has_what_select_has),
        cmocka_unit_test(modes_say_what_they_lack),
        cmocka_unit_test(counts_are_wrong_as_rarely_as_promised),
    };
    return cmocka_run_group_tests_name("spectral", tests, NULL, NULL);
}
