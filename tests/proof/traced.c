/* SPDX-License-Identifier: MIT */
/* Traced: payload attribution at full size, held against its formula.
 *
 * Sixty-four payloads of a mebibyte each, four million blocks. Excerpts that were recorded must be
 * found at their place and with their flow, all of them; excerpts that never were anywhere must be
 * found as often as the formula says, on both sides, for every length and two rates. The table is
 * the one of docs/kinds/hierarchical.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tamis_special.h"
#include "tests/support/bounds.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"

#ifdef TAMIS_SHORT
enum { EXCERPTS = 5 };
#else
enum { EXCERPTS = 40 };
#endif
enum { FLOWS = 64, LEN = 1 << 20, BLOCK = 64, LEVELS = 4 };

static uint8_t *bytes[FLOWS];
static uint64_t names[FLOWS];
static struct tamis_key flows[FLOWS];

static void fill(uint8_t *out, size_t len, uint64_t family) {
    for (size_t i = 0; i < len; i++) out[i] = (uint8_t)(test_number(family, i / 8) >> i % 8 * 8);
}

static tamis *recorded(const char *fpr) {
    tamis *f =
        test_make("hierarchical:capacity=%u,fpr=%s", 2 * FLOWS * (LEN / BLOCK) * 15 / 8, fpr);
    for (size_t i = 0; i < FLOWS; i++)
        REQUIRE_OK(tamis_record(f, flows[i].bytes, flows[i].len, 0, bytes[i], LEN));
    return f;
}

typedef struct count {
    size_t flow;
    uint64_t offset, right, wrong, with_blocks[64];
} count;

static bool take(void *ctx, const struct tamis_traced *traced) {
    count *c = ctx;
    if (traced->flow == c->flow && traced->offset == c->offset)
        c->right++;
    else {
        c->wrong++;
        c->with_blocks[traced->blocks % 64]++;
    }
    return true;
}

/* Places by their number of blocks; what is asked of each is a coin of its own. */
static void count_places(size_t len, uint64_t with[64]) {
    for (uint64_t at = 0; at + len <= LEN; at++) {
        uint64_t n = 0;
        for (unsigned l = 0; l < LEVELS; l++) {
            const uint64_t size = (uint64_t)BLOCK << l, first = (at + size - 1) / size;
            const uint64_t end = (at + len) / size;
            n += end > first ? end - first : 0;
        }
        with[n % 64]++;
    }
}

static void one_length(const tamis *f, const char *fpr, size_t len) {
    const double now = tamis_fpr_now(f), told = tamis_false_traces(f, len, 0, UINT64_MAX);
    uint64_t with[64] = {0};
    count strange = {.flow = FLOWS}, own = {0};
    uint8_t *excerpt = malloc(len);
    assert_non_null(excerpt);
    count_places(len, with);
    for (uint64_t e = 0; e < EXCERPTS; e++) {
        fill(excerpt, len, 1000 + e);
        REQUIRE_OK(tamis_trace(f, excerpt, len, NULL, 0, UINT64_MAX, take, &strange));
        own.flow = (size_t)(test_number(2, e) % FLOWS);
        own.offset = test_number(3, e) % (LEN - len + 1);
        REQUIRE_OK(tamis_trace(f, bytes[own.flow] + own.offset, len, flows, FLOWS, UINT64_MAX, take,
                               &own));
    }
    print_message("| %s | %zu | %.3g | %.3g | %llu of %d |\n", fpr, len, told,
                  (double)strange.wrong / EXCERPTS, (unsigned long long)own.right, EXCERPTS);
    assert_int_equal(own.right, EXCERPTS);
    for (int n = 1; n < 64; n++)
        if (!test_is_possible(strange.with_blocks[n], with[n] * EXCERPTS, pow(now, n), TEST_ALPHA))
            fail_msg("%zu bytes, %d blocks: %llu of %llu places, each with chance %g", len, n,
                     (unsigned long long)strange.with_blocks[n],
                     (unsigned long long)with[n] * EXCERPTS, pow(now, n));
    free(excerpt);
}

static void excerpts_of_every_length(void **state) {
    (void)state;
    static const char *const rates[] = {"1%", "10%"};
    static const size_t lengths[] = {127, 160, 191, 224, 255, 320, 383, 512};
    for (size_t i = 0; i < FLOWS; i++) {
        bytes[i] = malloc(LEN);
        assert_non_null(bytes[i]);
        fill(bytes[i], LEN, 100 + i);
        names[i] = i;
        flows[i] = (struct tamis_key){&names[i], sizeof names[i]};
    }
    print_message("| rate | bytes | false places, by formula | measured | found again |\n");
    for (size_t r = 0; r < 2; r++) {
        tamis *f = recorded(rates[r]);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            one_length(f, rates[r], lengths[i]);
        print_message("# rate now %g, %g bytes for each of payload\n", tamis_fpr_now(f),
                      (double)tamis_image_size(f) / FLOWS / LEN);
        tamis_free(f);
    }
    for (size_t i = 0; i < FLOWS; i++) free(bytes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(excerpts_of_every_length)};
    return cmocka_run_group_tests_name("traced", tests, NULL, NULL);
}
