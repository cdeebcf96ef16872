/* SPDX-License-Identifier: MIT */
/* Slots of a cluster, and tags that hash to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/net/key_slots.h"

static void crc_is_the_published_one(void **state) {
    (void)state;
    assert_int_equal(slot_crc("123456789", 9), 0x31c3);
    assert_int_equal(slot_crc("", 0), 0);
}

/* The replies of a server to CLUSTER KEYSLOT. */
static void only_what_is_in_braces_counts(void **state) {
    static const struct {
        const char *key;
        unsigned slot;
    } known[] = {{"foo", 12182},  {"a{foo}b", 12182},   {"{foo}{bar}", 12182},
                 {"{}foo", 9500}, {"{{foo}}", 13308},   {"foo{", 7673},
                 {"", 0},         {"123456789", 12739}, {"users:{1bz}", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(slot_of(known[i].key, strlen(known[i].key)), known[i].slot);
}

static void every_slot_has_a_tag(void **state) {
    char(*tag)[TAG_ROOM] = malloc((size_t)SLOTS * TAG_ROOM);
    (void)state;
    assert_non_null(tag);
    slot_tags(tag);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        const size_t len = strlen(tag[slot]);
        assert_in_range(len, 1, 4);
        assert_int_equal(slot_crc(tag[slot], len) % SLOTS, slot);
    }
    /* Keys on existing servers have these names. */
    assert_string_equal(tag[0], "1bz");
    assert_string_equal(tag[1], "emj");
    assert_string_equal(tag[8192], "fjl");
    assert_string_equal(tag[16383], "hia");
    free(tag);
}

static void shards_are_spread_evenly(void **state) {
    (void)state;
    for (uint64_t shards = 1; shards <= SLOTS; shards = shards * 3 + 1)
        for (uint64_t i = 0; i < shards; i++) {
            const unsigned slot = slot_of_shard(i, shards);
            assert_int_equal(slot, i * SLOTS / shards);
            if (i > 0) assert_true(slot > slot_of_shard(i - 1, shards));
        }
    assert_int_equal(slot_of_shard(SLOTS - 1, SLOTS), SLOTS - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_the_published_one),
        cmocka_unit_test(only_what_is_in_braces_counts),
        cmocka_unit_test(every_slot_has_a_tag),
        cmocka_unit_test(shards_are_spread_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
