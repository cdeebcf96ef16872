/* SPDX-License-Identifier: MIT */
/* scalable keeps its rate as it grows: checked against the bound that its stages add up to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "kinds/kind.h"
#include "tamis_engine.h"
#include "tests/support/contents.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/seal.h"
#include "tests/support/streams.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

extern const tamis_kind tamis__scalable;

enum { KIND_OF_STAGES, FIRST, RATE, STAGES, BYTES };

static uint64_t room_of(const tamis *f) {
    const struct tamis_info info = test_info(f);
    tamis_body body = {.kind = &tamis__scalable,
                       .size = info.payload_bytes,
                       .bytes = (uint8_t *)(uintptr_t)test_payload(f)};
    memcpy(body.word, info.word, sizeof body.word);
    return tamis__scalable.room(&body);
}

static const char *const stage_kinds[] = {"blocked", "split", "classic"};

/* Grown a thousandfold, at the end of every stage: all keys are found; non-members hit as the bits
 * predict (two-sided); and that rate is at most the target. The last holds for the mean over sets
 * of keys, because the fill of one filter, of few blocks at first, varies; so the mean of several
 * must keep the rate, without any allowance. */
static void scalable_keeps_its_rate_while_it_grows(void **state) {
    (void)state;
    enum { GROWTH = 10, FILTERS = 5, CAPACITY = 60 };
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        double sum[GROWTH + 1] = {0};
        for (unsigned i = 0; i < FILTERS; i++) {
            tamis *f = test_make("scalable:capacity=%d,fpr=2%%,kind=%s", CAPACITY, stage_kinds[k]);
            uint64_t next = 0;
            for (unsigned stage = 0; stage <= GROWTH; stage++) {
                while (test_info(f).word[STAGES] == stage)
                    test_add_hashes(f, i, next, next + 1), next++;
                for (uint64_t room; (room = room_of(f)) > 0; next += room)
                    test_add_hashes(f, i, next, next + room);
                const struct tamis_info info = test_info(f);
                assert_int_equal(info.word[STAGES], stage + 1);
                assert_false(info.is_degraded);
                assert_int_equal(test_count_hits(f, i, 0, next), next);
                test_demand_rate(f, i, 10000);
                sum[stage] += info.fpr_now / FILTERS;
                /* False positives take no room: a few percent more keys fit. */
                const uint64_t planned = CAPACITY * (((uint64_t)2 << stage) - 1);
                assert_true(next >= planned && (double)next < (double)planned * 1.03 + 3);
                const double formula = tamis__scalable.rate(info.word, planned);
                assert_true(formula <= 0.02 && fabs(info.fpr_now / formula - 1) < 0.6);
            }
            tamis_free(f);
        }
        for (unsigned stage = 0; stage <= GROWTH; stage++)
            if (sum[stage] > 0.02) fail_msg("%s, stage %u: %g", stage_kinds[k], stage, sum[stage]);
    }
}

static void scalable_shares_add_up_to_the_rate(void **state) {
    (void)state;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    for (double fpr = 0.5; fpr > 1e-8; fpr /= 7) {
        char spec[80];
        sprintf(spec, "scalable:capacity=1000,fpr=%.17g", fpr);
        assert_int_equal(tamis_plan_spec(spec, &plan), TAMIS_OK);
        /* For any number of keys, up to the largest stack. */
        for (uint64_t keys = 1000; keys < (uint64_t)1 << 55; keys *= 5)
            assert_true(tamis__scalable.rate(plan.word, keys) <= fpr);
    }
}

static tamis_status plan_stages(double fpr, uint64_t capacity, const char *kind) {
    char spec[96];
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    snprintf(spec, sizeof spec, "scalable:capacity=%llu,fpr=%.9g,kind=%s",
             (unsigned long long)capacity, fpr, kind);
    return tamis_plan_spec(spec, &plan);
}

static tamis_status grow_a_thousandfold(double fpr, uint64_t capacity, const char *kind) {
    tamis *f = test_make("scalable:capacity=%llu,fpr=%.9g,kind=%s", (unsigned long long)capacity,
                         fpr, kind);
    const struct tamis_info info = test_info(f);
    tamis_body body = {.kind = &tamis__scalable,
                       .size = info.payload_bytes,
                       .bytes = (uint8_t *)(uintptr_t)test_payload(f)};
    uint64_t word[TAMIS_WORDS];
    memcpy(body.word, info.word, sizeof body.word);
    memcpy(word, info.word, sizeof word);
    const tamis_status rc = tamis__scalable.reshape->grow(&body, 1000 * capacity, word);
    tamis_free(f);
    return rc;
}

/* Stages become stricter: a filter that is made can have all of them, and a refusal names the
 * minimum rate. */
static void scalable_is_made_for_its_later_stages(void **state) {
    (void)state;
    static const char *const kinds[] = {"blocked", "split", "classic", "compaction"};
    unsigned made = 0, refused = 0;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (uint64_t capacity = 1; capacity <= 1000000; capacity *= 1000)
            for (double fpr = 1e-4; fpr > 0.9e-12; fpr /= 10) {
                if (!plan_stages(fpr, capacity, kinds[k])) {
                    assert_int_equal(grow_a_thousandfold(fpr, capacity, kinds[k]), TAMIS_OK);
                    made++;
                    continue;
                }
                const char *from = strstr(tamis_why(), "from fpr=");
                refused++;
                if (!from) continue; /* even the first stage could not be made */
                const double min = strtod(from + strlen("from fpr="), NULL);
                assert_true(min > fpr);
                assert_int_equal(plan_stages(min, capacity, kinds[k]), TAMIS_OK);
                assert_int_equal(plan_stages(min * 0.9, capacity, kinds[k]), TAMIS_INVALID);
            }
    assert_true(made >= 60 && refused >= 20);
}

/* With a size no rate is refused: it is as low as later stages allow. */
static void scalable_of_a_size_grows(void **state) {
    (void)state;
    struct tamis_plan plan = TAMIS_PLAN_INIT;
    assert_int_equal(tamis_plan_spec("scalable:capacity=67108864,size=512MiB,kind=blocked", &plan),
                     TAMIS_OK);
    assert_int_equal(plan.word[RATE], 1000000000000); /* 1e-6; its first stage could be far lower */
    assert_int_equal(
        tamis_plan_spec("scalable:capacity=67108864,size=512MiB,kind=compaction", &plan), TAMIS_OK);
    const double fpr = (double)plan.word[RATE] * 1e-18;
    assert_true(fpr > 1e-6);
    assert_int_equal(plan_stages(fpr, 64 << 20, "compaction"), TAMIS_OK);
    assert_int_equal(plan_stages(fpr * 0.9, 64 << 20, "compaction"), TAMIS_INVALID);
}

static void scalable_counts_a_key_once(void **state) {
    (void)state;
    tamis *f = test_make("scalable:capacity=100,fpr=1e-6");
    uint64_t hashes[700];
    for (unsigned i = 0; i < 700; i++) hashes[i] = test_number(1, i % 70);
    for (unsigned i = 0; i < 20; i++) assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK);
    assert_int_equal(test_info(f).word[STAGES], 1);
    assert_int_equal(room_of(f), 30);
    for (unsigned i = 0; i < 700; i++) hashes[i] = test_number(1, i % 100);
    assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK);
    assert_int_equal(test_info(f).word[STAGES], 1);
    assert_int_equal(room_of(f), 0);
    assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK); /* no room, all known */
    assert_int_equal(test_info(f).word[STAGES], 1);
    hashes[699] = test_number(1, 100);
    assert_int_equal(tamis_add_hashes(f, hashes, 700), TAMIS_OK);
    assert_int_equal(test_info(f).word[STAGES], 2);
    assert_int_equal(room_of(f), 199);
    assert_int_equal(test_count_hits(f, 1, 0, 101), 101);
    tamis_free(f);
}

/* A batch goes where single adds would; only growth may come earlier. */
static void scalable_takes_many_as_one_by_one(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        enum { KEYS = 5000 };
        static uint64_t hashes[KEYS];
        tamis *one = test_make("scalable:capacity=50,fpr=1e-5,kind=%s", stage_kinds[k]);
        tamis *many = test_make("scalable:capacity=50,fpr=1e-5,kind=%s", stage_kinds[k]);
        for (unsigned i = 0; i < KEYS; i++) hashes[i] = test_number(k, i - i / 3);
        for (unsigned i = 0; i < KEYS; i++)
            assert_int_equal(tamis_add_hash(one, hashes[i]), TAMIS_OK);
        assert_int_equal(tamis_add_hashes(many, hashes, KEYS), TAMIS_OK);
        const struct tamis_info a = test_info(one), b = test_info(many);
        assert_memory_equal(a.word, b.word, sizeof a.word);
        assert_memory_equal(test_payload(one), test_payload(many), a.payload_bytes);
        tamis_free(one);
        tamis_free(many);
    }
}

/* A key by itself has a way of its own through the stages: answers and bytes are those of lists,
 * with stages that are empty, half full and full. */
static void scalable_takes_one_as_many(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        enum { KEYS = 1000, ASKED = 32 };
        tamis *one = test_make("scalable:capacity=20,fpr=5%%,kind=%s", stage_kinds[k]);
        tamis *many = test_make("scalable:capacity=20,fpr=5%%,kind=%s", stage_kinds[k]);
        for (unsigned i = 0; i < KEYS; i++) {
            uint64_t asked[ASKED];
            uint8_t hit[ASKED];
            bool is_new = i & 1;
            for (unsigned j = 0; j < ASKED; j++) asked[j] = test_number(k, j ? i / 2 + 61 * j : i);
            tamis_has_hashes(many, asked, ASKED, hit);
            for (unsigned j = 0; j < ASKED; j++)
                assert_int_equal(tamis_has_hash(one, asked[j]), hit[j]);
            assert_int_equal(tamis_add_new_hash(one, asked[0], &is_new), TAMIS_OK);
            assert_int_equal(is_new, !hit[0]);
            assert_int_equal(tamis_add_hashes(many, asked, is_new), TAMIS_OK);
            assert_int_equal(tamis_add_new_hash(one, asked[0], &is_new), TAMIS_OK);
            assert_false(is_new);
            const struct tamis_info a = test_info(one), b = test_info(many);
            assert_int_equal(a.items, b.items);
            assert_memory_equal(a.word, b.word, sizeof a.word);
            assert_memory_equal(test_payload(one), test_payload(many), a.payload_bytes);
        }
        assert_int_equal(test_info(one).word[STAGES], 6);
        tamis_free(one);
        tamis_free(many);
    }
}

/* What a handle remembers of its stages is its own: in copies, in images that are read, and when
 * more stages come. */
static void scalable_finds_its_stages_again(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        enum { KEYS = 500, ASKED = 1000, HANDLES = 4 };
        tamis *f = test_make("scalable:capacity=20,kind=%s", stage_kinds[k]), *handles[HANDLES];
        uint64_t asked[ASKED];
        uint8_t hit[ASKED];
        size_t size;
        test_add_hashes(f, k, 0, KEYS);
        uint8_t *image = test_image(f, &size);
        assert_int_equal(tamis_copy(&handles[0], f), TAMIS_OK);
        assert_int_equal(tamis_load(&handles[1], image, size), TAMIS_OK);
        assert_int_equal(tamis_view(&handles[2], image, size), TAMIS_OK);
        test_add_hashes(f, k, KEYS, 3 * KEYS);
        handles[3] = f;
        for (unsigned i = 0; i < ASKED; i++) asked[i] = test_number(k, i);
        for (size_t h = 0; h < HANDLES; h++) {
            tamis_has_hashes(handles[h], asked, ASKED, hit);
            for (unsigned i = 0; i < ASKED; i++) {
                assert_int_equal(tamis_has_hash(handles[h], asked[i]), hit[i]);
                assert_true(hit[i] || (i >= KEYS && h < 3));
            }
        }
        for (size_t h = 0; h < HANDLES; h++) tamis_free(handles[h]);
        free(image);
    }
}

/* Without memory for what a handle remembers, stages are found in the payload each time; and all of
 * it is given back. */
static void scalable_needs_no_memory_of_its_stages(void **state) {
    (void)state;
    for (long fail_at = 1; fail_at < 12; fail_at++) {
        test_failing_allocator memory = {.fail_at = fail_at};
        const struct tamis_allocator allocator = test_allocator(&memory);
        struct tamis_options options = TAMIS_OPTIONS_INIT;
        tamis *f;
        options.allocator = &allocator;
        if (tamis_create_with(&f, "scalable:capacity=20", &options)) continue;
        unsigned added = 0;
        while (added < 1000 && tamis_add_hash(f, test_number(1, added)) == TAMIS_OK) added++;
        assert_true(added >= 20);
        assert_int_equal(test_count_hits(f, 1, 0, added), added);
        tamis_free(f);
        assert_int_equal(memory.blocks, 0);
    }
}

/* Blocks are aligned to cache lines, whatever the stages below. */
static void scalable_stages_are_aligned(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *f = test_make("scalable:capacity=7,fpr=1%%,kind=%s", stage_kinds[k]);
        test_add_hashes(f, 1, 0, 3000);
        const struct tamis_info info = test_info(f);
        assert_int_equal((uintptr_t)test_payload(f) % 64, 0);
        assert_int_equal(info.word[BYTES] % 64, 0);
        const uint8_t *p = test_payload(f), *end = p + info.payload_bytes;
        for (uint64_t stage = 0; stage < info.word[STAGES]; stage++) {
            const uint64_t taken = tamis__get64(p), capacity = (uint64_t)7 << stage;
            assert_true(taken <= capacity && (taken == capacity || stage + 1 == info.word[STAGES]));
            const uint64_t units = stage ? tamis__get64(p + 8) : info.word[5];
            const uint64_t bytes = k == 0   ? 64 * units
                                   : k == 1 ? 32 * units
                                            : (units + 63) / 64 * 8;
            p += 64 + (bytes + 63) / 64 * 64;
        }
        assert_ptr_equal(p, end);
        tamis_free(f);
    }
}

/* Copies that diverged have their old keys in the same stages and room above for the new ones: they
 * merge. Two that grew independently have filled every stage twice: they do not. */
static void scalable_merges_what_keeps_its_rate(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *a = test_make("scalable:capacity=500,fpr=2%%,kind=%s", stage_kinds[k]), *b, *c;
        struct tamis_estimate common;
        test_add_hashes(a, 1, 0, 2000);
        assert_int_equal(test_info(a).word[STAGES], 3);
        assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
        test_add_hashes(a, 1, 2000, 2500);
        test_add_hashes(b, 1, 2300, 3100);
        assert_int_equal(tamis_overlap(a, b, &common), TAMIS_UNSUPPORTED);
        assert_int_equal(tamis_similarity(a, b, &common), TAMIS_UNSUPPORTED);
        assert_int_equal(tamis_merge(a, b), TAMIS_OK);
        assert_int_equal(test_count_hits(a, 1, 0, 3100), 3100);
        test_demand_rate(a, 1, 100000);
        assert_true(tamis_fpr_now(a) <= 0.02);
        /* The bits give the number of keys, and growth continues from there. */
        const struct tamis_estimate kept = test_info(a).items_now;
        assert_true(fabs(kept.value - 3100) < 6 * kept.error && kept.error < 100);
        assert_true(fabs((double)room_of(a) - 400) < 100);
        test_add_hashes(a, 1, 3100, 5000);
        assert_int_equal(test_info(a).word[STAGES], 4);
        assert_int_equal(test_count_hits(a, 1, 0, 5000), 5000);
        tamis_free(b);
        b = test_make("scalable:capacity=500,fpr=2%%,kind=%s", stage_kinds[k]);
        assert_int_equal(tamis_copy(&c, a), TAMIS_OK);
        assert_int_equal(tamis_merge(a, b), TAMIS_OK); /* an empty stack of another height */
        assert_memory_equal(test_payload(a), test_payload(c), test_info(a).payload_bytes);
        test_add_hashes(b, 1, 6000, 11000);
        assert_int_equal(tamis_merge(a, b), TAMIS_FULL);
        assert_non_null(strstr(tamis_why(), "the union would have a rate of"));
        assert_int_equal(tamis_image_size(a), tamis_image_size(c));
        assert_memory_equal(test_payload(a), test_payload(c), test_info(a).payload_bytes);
        tamis_free(a);
        tamis_free(b);
        tamis_free(c);
    }
}

/* Stacks of different heights merge into the taller one where their stages have room. The union is
 * the same in either order, and keeps growing. */
static void scalable_joins_stacks_of_two_heights(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *a = test_make("scalable:capacity=500,fpr=2%%,kind=%s", stage_kinds[k]), *b, *c;
        test_add_hashes(a, 1, 0, 480);
        assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
        test_add_hashes(a, 1, 480, 5000);
        test_add_hashes(b, 1, 480, 490);
        const double rate = tamis_fpr_now(a);
        assert_int_equal(test_info(a).word[STAGES], 4);
        assert_int_equal(test_info(b).word[STAGES], 1);
        assert_int_equal(tamis_copy(&c, b), TAMIS_OK);
        assert_int_equal(tamis_merge(c, a), TAMIS_OK); /* nothing is new: the bytes of a */
        assert_int_equal(tamis_merge(a, b), TAMIS_OK);
        assert_int_equal(test_info(c).word[STAGES], 4);
        assert_memory_equal(test_payload(a), test_payload(c), test_info(a).payload_bytes);
        assert_true(tamis_fpr_now(a) == rate && !test_info(a).has_stray_bits);
        assert_true(fabs(test_info(c).items_now.value - 5000) < 6 * test_info(c).items_now.error);
        test_add_hashes(c, 1, 5000, 20000);
        assert_int_equal(test_count_hits(c, 1, 0, 20000), 20000);
        test_demand_rate(c, 1, 100000);
        assert_true(tamis_fpr_now(c) <= 0.02 * (1 + 6 / sqrt(500)));
        tamis_free(a);
        tamis_free(b);
        tamis_free(c);
    }
}

/* A union must leave some of the rate to later stages. Two that are together slightly too large for
 * their first stage would still meet the rate now, and miss it later. */
static void scalable_unions_keep_their_rate_as_they_grow(void **state) {
    (void)state;
    for (uint64_t each = 4400; each <= 6000; each += 200) {
        tamis *a = test_make("scalable:capacity=10000,fpr=1%%"), *b;
        assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
        test_add_hashes(a, 1, 0, each);
        test_add_hashes(b, 1, each, 2 * each);
        const tamis_status rc = tamis_merge(a, b);
        if (rc != (2 * each <= 10000 ? TAMIS_OK : TAMIS_FULL))
            fail_msg("%llu keys of each: %d", (unsigned long long)each, rc);
        test_add_hashes(a, 1, 2 * each, 150000);
        assert_true(tamis_fpr_now(a) <= 0.01 * (1 + 6 / sqrt(10000)));
        tamis_free(a);
        tamis_free(b);
    }
}

/* Keys in different stages of the two are counted twice, and the error allows for that. */
static void scalable_reports_the_error_of_a_union(void **state) {
    (void)state;
    tamis *a = test_make("scalable:capacity=500,fpr=2%%"), *b, *c;
    test_add_hashes(a, 1, 0, 1400);
    assert_int_equal(tamis_copy(&b, a), TAMIS_OK);
    assert_int_equal(tamis_copy(&c, a), TAMIS_OK);
    test_add_hashes(a, 1, 1400, 1600);
    test_add_hashes(b, 1, 2000, 2150);
    test_add_hashes(b, 1, 1400, 1450); /* in the second stage of a, and in the third of b */
    assert_int_equal(tamis_merge(a, b), TAMIS_OK);
    struct tamis_estimate kept = test_info(a).items_now;
    assert_true(fabs(kept.value - 1750) < 2 * kept.error && kept.error > 25);
    /* Merging an equal copy adds no uncertainty. */
    tamis_free(b);
    assert_int_equal(tamis_copy(&b, c), TAMIS_OK);
    assert_int_equal(tamis_merge(c, b), TAMIS_OK);
    kept = test_info(c).items_now;
    assert_true(fabs(kept.value - 1400) < 6 * kept.error && kept.error < 40);
    tamis_free(a);
    tamis_free(b);
    tamis_free(c);
}

/* An image from before stages were spread still answers, and its new stages are spread. */
static void scalable_goes_on_from_older_images(void **state) {
    (void)state;
    static const char *const old[] = {"scalable-1", "scalable-split-1", "scalable-classic-1",
                                      "scalable-compaction-1"};
    for (size_t k = 0; k < COUNT_OF(old); k++) {
        char path[128];
        tamis *f, *fresh;
        snprintf(path, sizeof path, "tests/golden/%s.tamis", old[k]);
        assert_int_equal(tamis_read(&f, path), TAMIS_OK);
        const uint64_t old_stages = test_info(f).word[STAGES];
        for (char key[16]; test_info(f).items < 3000;) {
            const int len = snprintf(key, sizeof key, "%d", (int)test_info(f).items + 1);
            assert_int_equal(tamis_add(f, key, (size_t)len), TAMIS_OK);
        }
        assert_true(test_info(f).word[STAGES] > old_stages);
        for (int i = 1; i <= 3000; i++) {
            char key[16];
            const int len = snprintf(key, sizeof key, "%d", i);
            assert_true(tamis_has(f, key, (size_t)len));
        }
        if (k != 2) test_demand_rate(f, 5, 200000); /* classic has a target of 1e-6 */
        tamis_free(f);
        assert_int_equal(tamis_read(&f, path), TAMIS_OK);
        char spec[128];
        tamis_spec(f, spec, sizeof spec);
        fresh = test_make("%s", spec);
        while (test_info(fresh).word[STAGES] < old_stages)
            test_add_hashes(fresh, 1, test_info(fresh).items, test_info(fresh).items + 1);
        assert_int_equal(tamis_merge(f, fresh), k == 3 ? TAMIS_UNSUPPORTED : TAMIS_MISMATCH);
        tamis_free(f);
        tamis_free(fresh);
    }
}

/* The stages of blocked cannot be arbitrarily strict. Growth ends late, with an error message, and
 * the filter stays as it is. */
static void scalable_says_when_it_cannot_grow(void **state) {
    (void)state;
    tamis *f = test_make("scalable:capacity=1,fpr=1e-7,kind=blocked");
    tamis_status rc = TAMIS_OK;
    uint64_t n = 0;
    while (n < 2000000 && !rc) rc = tamis_add_hash(f, test_number(1, n++));
    assert_int_equal(rc, TAMIS_FULL);
    assert_non_null(strstr(tamis_why(), "scalable cannot grow"));
    n--;
    assert_true(n > 500);
    assert_int_equal(test_count_hits(f, 1, 0, n), n);
    tamis_free(f);
}

static void scalable_refuses_what_cannot_be(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(stage_kinds); k++) {
        tamis *f = test_make("scalable:capacity=20,fpr=1%%,kind=%s", stage_kinds[k]);
        const size_t first = TEST_HEADER_BYTES;
        test_demand_refused(f, first + 64, 1, true); /* a bit without a key */
        test_add_hashes(f, 1, 0, 50);
        const struct tamis_info info = test_info(f);
        assert_int_equal(info.word[STAGES], 2);
        const uint64_t units = info.word[5];
        const uint64_t bytes = k == 0 ? 64 * units : k == 1 ? 32 * units : (units + 63) / 64 * 8;
        const size_t second = first + 64 + (bytes + 63) / 64 * 64;
        if (bytes % 64) test_demand_refused(f, second - 8, 1, true); /* between the stages */
        assert_true(bytes % 64 || k != 2);                           /* classic has such bytes */
        test_demand_refused(f, first, 20, false);
        test_demand_refused(f, first, 19, true); /* not full, below another */
        test_demand_refused(f, second, 0, true);
        test_demand_refused(f, second, 31, false);
        test_demand_refused(f, second, (uint64_t)1 << 61, true);
        for (size_t at = 8; at < 64; at += 8) {
            const bool is_state = at == 32 || at == 40; /* spread flag and uncertainty */
            test_demand_refused(f, first + at, 1, !is_state);
            if (at >= 32) test_demand_refused(f, second + at, 1, at != 32);
        }
        for (size_t at = first; at <= second; at += second - first) {
            test_demand_refused(f, at + 32, 2, true);
            test_demand_refused(f, at + 40, ((uint64_t)1 << 60) + 1, true);
        }
        test_demand_refused(f, second + 8, tamis__get64(test_payload(f) + second - first + 8) * 100,
                            true);
        test_demand_refused(f, second + 8, UINT64_MAX, true);
        test_demand_refused(f, second + 8, 0, true);
        test_demand_safe_forgeries(f, 70 + k);
        tamis_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalable_keeps_its_rate_while_it_grows),
        cmocka_unit_test(scalable_shares_add_up_to_the_rate),
        cmocka_unit_test(scalable_is_made_for_its_later_stages),
        cmocka_unit_test(scalable_of_a_size_grows),
        cmocka_unit_test(scalable_counts_a_key_once),
        cmocka_unit_test(scalable_takes_many_as_one_by_one),
        cmocka_unit_test(scalable_takes_one_as_many),
        cmocka_unit_test(scalable_finds_its_stages_again),
        cmocka_unit_test(scalable_needs_no_memory_of_its_stages),
        cmocka_unit_test(scalable_stages_are_aligned),
        cmocka_unit_test(scalable_merges_what_keeps_its_rate),
        cmocka_unit_test(scalable_joins_stacks_of_two_heights),
        cmocka_unit_test(scalable_unions_keep_their_rate_as_they_grow),
        cmocka_unit_test(scalable_reports_the_error_of_a_union),
        cmocka_unit_test(scalable_goes_on_from_older_images),
        cmocka_unit_test(scalable_says_when_it_cannot_grow),
        cmocka_unit_test(scalable_refuses_what_cannot_be),
    };
    return cmocka_run_group_tests_name("scalable", tests, NULL, NULL);
}
