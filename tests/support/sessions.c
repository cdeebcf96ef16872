/* SPDX-License-Identifier: MIT */
/* Two sides, and the wire between them. */
#include "tests/support/sessions.h"

#include <stdlib.h>

#include "tests/support/keys.h"

static void shuffle(uint64_t *list, size_t n, uint64_t family) {
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)(test_number(family + 1, i) % i);
        const uint64_t kept = list[i - 1];
        list[i - 1] = list[j];
        list[j] = kept;
    }
}

void test_sets(uint64_t family, size_t common, size_t left, size_t right, test_side sides[2]) {
    const size_t extra[2] = {left, right};
    for (size_t s = 0; s < 2; s++) {
        sides[s].n = common + extra[s];
        sides[s].hashes = malloc((sides[s].n + 1) * sizeof *sides[s].hashes);
        if (!sides[s].hashes) abort();
        for (size_t i = 0; i < sides[s].n; i++)
            sides[s].hashes[i] =
                test_number(family, i < common ? i : (s + 1) * TEST_STRANGERS + i - common);
        shuffle(sides[s].hashes, sides[s].n, family + s);
    }
}

void test_sets_free(test_side sides[2]) {
    for (size_t s = 0; s < 2; s++) free(sides[s].hashes);
}

/* Passes output of one to the other, until there is none. */
static bool carry(tamis_session *from, tamis_session *to, size_t piece, uint64_t *steps) {
    uint8_t bytes[4096];
    size_t size;
    bool is_moving = false;
    if (piece > sizeof bytes) piece = sizeof bytes;
    while (*steps && (size = tamis_session_output(from, bytes, piece)) > 0) {
        --*steps;
        is_moving = true;
        if (!tamis_session_is_over(to)) (void)tamis_session_input(to, bytes, size);
    }
    return is_moving;
}

bool test_converse(tamis_session *first, tamis_session *second, size_t piece, uint64_t steps) {
    for (bool is_moving = true; is_moving && steps;) {
        is_moving = carry(first, second, piece, &steps);
        is_moving |= carry(second, first, piece, &steps);
    }
    if (!tamis_session_is_over(first)) (void)tamis_session_finish(first);
    if (!tamis_session_is_over(second)) (void)tamis_session_finish(second);
    return steps > 0;
}
