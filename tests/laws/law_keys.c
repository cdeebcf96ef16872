/* SPDX-License-Identifier: MIT */
/* Laws about contrived keys: no shape of keys may change a rate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/laws/laws.h"
#include "tests/support/bounds.h"
#include "tests/support/keys.h"

enum { LONG = 2048, EACH = 1000, STRANGERS = 12000 };

/* Counters as little-endian words, and multiples of 2^20. */
static struct tamis_key strange_number(uint64_t i, uint64_t n, uint8_t *buffer) {
    const uint64_t value = i % 2 == 0 ? n : n << 20 | (uint64_t)1 << 63;
    memcpy(buffer, &value, sizeof value);
    return (struct tamis_key){buffer, sizeof value};
}

/* Keys of four kinds in turn: long ones that differ in two bits, counters after a common prefix,
 * and the two above. The 0th is the shortest. Kinds that take only integers get those. */
static struct tamis_key strange_key(uint64_t i, uint8_t buffer[LONG]) {
    if (only_numbers) return strange_number(i, i / 2, buffer);
    if (i == 0) return min_key();
    const uint64_t n = i / 4;
    if (i % 4 == 0) {
        memset(buffer, 0, LONG);
        buffer[n / 128] ^= (uint8_t)(1 << n % 8); /* n / 128 stays below LONG / 2 */
        buffer[LONG / 2 + n % 128] ^= (uint8_t)(1 << n / 8 % 8);
        return (struct tamis_key){buffer, LONG};
    }
    if (i % 4 == 1) {
        const int len = snprintf((char *)buffer, LONG, "https://example.org/a/very/common/%llu",
                                 (unsigned long long)n);
        return (struct tamis_key){buffer, (size_t)len};
    }
    return strange_number(i, n, buffer);
}

static const char *strange_keys_change_no_rate(const subject *s) {
    static uint8_t buffer[LONG];
    intake in = open_intake(s, 4 * EACH, 0.02, NULL);
    const char *what = NULL;
    uint64_t hits = 0;
    for (uint64_t i = 0; i < 4 * EACH && !what; i++) {
        const struct tamis_key key = strange_key(i, buffer);
        if (take_in(&in, key.bytes, key.len)) what = "there is no room for strange keys";
    }
    tamis *f = taken(&in);
    for (uint64_t i = 0; i < 4 * EACH && !what && !(s->can & TAMIS_AGES); i++) {
        const struct tamis_key key = strange_key(i, buffer);
        if (!tamis_has(f, key.bytes, key.len)) what = "a strange key is not found";
    }
    for (uint64_t i = 4 * EACH; i < 4 * EACH + STRANGERS; i++) {
        const struct tamis_key key = strange_key(i, buffer);
        hits += tamis_has(f, key.bytes, key.len);
    }
    if (!what && !test_is_possible(hits, STRANGERS, tamis_fpr_now(f), TEST_ALPHA))
        what = wrong("%llu of %d strange keys are found, %g is the rate", (unsigned long long)hits,
                     STRANGERS, tamis_fpr_now(f));
    tamis_free(f);
    return what;
}

/* It is in, others stay, and the rate is as reported: or it is full of that key and reports it, and
 * must be no worse. */
static const char *one_key_a_million_times(const subject *s) {
    enum { OTHERS = 500 };
    const uint64_t times = *s->options ? 100000 : 1000000; /* more than 16 bits count */
    intake in = open_intake(s, 1000, 0.01, NULL);
    const char *what = NULL;
    uint64_t hits = 0;
    char buffer[32];
    const struct tamis_key key = key_at(0, buffer);
    take_in_keys(&in, 1, 1 + OTHERS);
    for (uint64_t i = 0; i < effort(times); i++)
        if (take_in(&in, key.bytes, key.len)) break; /* full of it */
    tamis *f = taken(&in);
    if (!tamis_has(f, key.bytes, key.len)) what = "the key is missing";
    if (!what && !(s->can & TAMIS_AGES) && count_keys(f, 1, 1 + OTHERS) != OTHERS)
        what = "other keys are lost";
    for (uint64_t i = 0; i < STRANGERS; i++)
        hits += tamis_has_u64(f, test_number(17, TEST_STRANGERS + i));
    const double now = tamis_fpr_now(f), expected = test_info(f).fpr_expected;
    const double max = expected > 0.01 ? expected : 0.01; /* where an option sets the rate */
    if (!what && (now > max || !test_is_possible(hits, STRANGERS, now, TEST_ALPHA)))
        what = wrong("%llu of %d non-members are found, the filter says %g",
                     (unsigned long long)hits, STRANGERS, now);
    tamis_free(f);
    return what;
}

const law key_laws[] = {
    {"strange_keys_change_no_rate", 0, strange_keys_change_no_rate, TAMIS_IS_SKETCH},
    {"one_key_a_million_times", 0, one_key_a_million_times, TAMIS_IS_SKETCH},
    {NULL, 0, NULL, 0},
};
