/* SPDX-License-Identifier: MIT */
/* Laws about kinds that change: removing, counting, ageing, growing, resizing, listing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tamis_special.h"
#include "tests/laws/laws.h"
#include "tests/support/bounds.h"
#include "tests/support/building.h"
#include "tests/support/keys.h"

enum { N = 3000 };

static tamis_status remove_key(tamis *f, uint64_t i) {
    char buffer[32];
    const struct tamis_key key = key_at(i, buffer);
    return tamis_remove(f, key.bytes, key.len);
}

static uint64_t count_of(const tamis *f, uint64_t i) {
    char buffer[32];
    const struct tamis_key key = key_at(i, buffer);
    return tamis_count(f, key.bytes, key.len);
}

/* ---- Removing ------------------------------------------------------------------------------- */

/* Every other key is removed; the others stay, and removed keys are non-members like any other.
 * When all are removed, nothing is left of them. */
static const char *remove_forgets_only_that_key(const subject *s) {
    tamis *f = make(s, 2 * N, 0.01, NULL), *empty;
    const char *what = NULL;
    uint64_t found = 0;
    if (tamis_copy(&empty, f)) abort();
    add_keys(f, 0, N);
    for (uint64_t i = 0; i < N && !what; i += 2)
        if (remove_key(f, i)) what = wrong("key %llu: %s", (unsigned long long)i, tamis_why());
    for (uint64_t i = 1; i < N && !what; i += 2)
        if (!count_keys(f, i, i + 1)) what = wrong("key %llu went too", (unsigned long long)i);
    for (uint64_t i = 0; i < N; i += 2) found += count_keys(f, i, i + 1);
    if (!what && !test_is_possible(found, N / 2, tamis_fpr_now(f), TEST_ALPHA))
        what = wrong("%llu of %d keys are still found", (unsigned long long)found, N / 2);
    for (uint64_t i = 1; i < N && !what; i += 2)
        if (remove_key(f, i)) what = wrong("key %llu: %s", (unsigned long long)i, tamis_why());
    if (!what && test_info(f).items) what = "items are left over";
    if (!what && test_info(f).affected == 0 && tamis_fpr_now(f) > 0)
        what = "an emptied filter still answers yes";
    if (!what && test_info(f).affected == 0 && s->can & TAMIS_ANY_ORDER && !same_payload(f, empty))
        what = "an emptied filter is not as a new one";
    tamis_free(f);
    tamis_free(empty);
    return what;
}

/* As many removes as adds, no fewer. */
static const char *second_add_needs_second_remove(const subject *s) {
    tamis *f = make(s, 4 * N, 0.01, NULL);
    const char *what = NULL;
    add_keys(f, 0, N);
    add_keys(f, 0, N / 2);
    for (uint64_t i = 0; i < N / 2 && !what; i++)
        if (remove_key(f, i)) what = wrong("key %llu: %s", (unsigned long long)i, tamis_why());
    if (!what && count_keys(f, 0, N) != N) what = "one remove took back two adds";
    tamis_free(f);
    return what;
}

/* A non-member that is answered no cannot be removed, and trying changes nothing. */
static const char *removing_nonmembers_is_refused(const subject *s) {
    tamis *f = make(s, N, 0.01, NULL), *old;
    const char *what = NULL;
    if (remove_key(f, 1) != TAMIS_NOT_FOUND) what = "an empty filter lets a key be removed";
    add_keys(f, 0, N);
    if (tamis_copy(&old, f)) abort();
    for (uint64_t i = N; i < 2 * N && !what; i++)
        if (!count_keys(f, i, i + 1) && remove_key(f, i) != TAMIS_NOT_FOUND)
            what = wrong("key %llu was never added", (unsigned long long)i);
    if (!what && (!same_payload(f, old) || test_info(f).items != N))
        what = "a refused remove changed the filter";
    tamis_free(f);
    tamis_free(old);
    return what;
}

/* ---- Counting ------------------------------------------------------------------------------- */

/* Never below the truth as far as that is promised, and above it no more often than the
 * false-positive rate, unless the filter reports that it can no longer keep that. */
static const char *count_never_under(const subject *s) {
    enum { MAX = 9 };
    tamis *f = make(s, N * (MAX + 1) / 2, 0.01, NULL);
    const char *what = NULL;
    const uint64_t sure = test_info(f).reliable_count;
    uint64_t over = 0;
    for (uint64_t round = 0; round < MAX; round++)
        for (uint64_t i = 0; i < N; i++)
            if (i % MAX >= round && add_keys(f, i, i + 1) != 1) what = "it is full";
    for (uint64_t i = 0; i < N && !what; i++) {
        const uint64_t truth = i % MAX + 1, count = count_of(f, i);
        if (count < truth && count < sure)
            what = wrong("key %llu was added %llu times, count says %llu", (unsigned long long)i,
                         (unsigned long long)truth, (unsigned long long)count);
        over += count > truth;
    }
    for (uint64_t i = N; i < 3 * N && !what; i++)
        if ((count_of(f, i) > 0) != (count_keys(f, i, i + 1) > 0))
            what = "count and has disagree about a stranger";
    const double max = 0.01 * N;
    if (!what && !test_info(f).caveat[0] && (double)over > max &&
        !test_is_possible(over, N, 0.01, TEST_ALPHA))
        what = wrong("%llu of %d counts are too high", (unsigned long long)over, N);
    tamis_free(f);
    return what;
}

/* A count goes down by one with each remove. */
static const char *count_follows_removes(const subject *s) {
    tamis *f = make(s, 100, 0.001, NULL);
    const char *what = NULL;
    const uint64_t sure = test_info(f).reliable_count, adds = sure < 3 ? sure : 3;
    for (uint64_t i = 0; i < adds; i++) add_keys(f, 7, 8);
    for (uint64_t left = adds; left > 0 && !what; left--) {
        if (count_of(f, 7) != left)
            what = wrong("with %llu adds left count says %llu", (unsigned long long)left,
                         (unsigned long long)count_of(f, 7));
        if (left == sure) break; /* a counter at its top may stay there */
        if (remove_key(f, 7)) what = wrong("%s", tamis_why());
    }
    tamis_free(f);
    return what;
}

/* A kind whose counts are worse than its rate reports how much worse, and how rarely more. Tested
 * with far more distinct keys than planned, some of them often. */
static const char *counts_keep_their_error(const subject *s) {
    enum { KEYS = 6000 };
    tamis *f = make(s, 100, 0.1, NULL);
    uint64_t over = 0, asked = 0;
    if (test_info(f).count_error != 0 || test_info(f).count_error_prob < 0 ||
        test_info(f).count_error_prob >= 1) {
        tamis_free(f);
        return "nothing is in it, and counts have an error";
    }
    const bool has_error = test_info(f).count_error_prob > 0;
    for (uint64_t i = 0; i < KEYS && has_error; i++)
        for (uint64_t times = i % 100 ? 1 : 50; times; times--) add_keys(f, i, i + 1);
    const struct tamis_info info = test_info(f);
    for (uint64_t i = 0; i < 2 * KEYS && has_error; i++, asked++) {
        const uint64_t truth = i >= KEYS ? 0 : i % 100 ? 1 : 50;
        over += (double)count_of(f, i) > (double)truth + info.count_error;
    }
    tamis_free(f);
    if (has_error && !is_rare(over, asked, info.count_error_prob))
        return wrong("%llu of %llu counts are too high by more than %g, and a share of %g may be",
                     (unsigned long long)over, (unsigned long long)asked, info.count_error,
                     info.count_error_prob);
    return NULL;
}

/* ---- Adding many times ---------------------------------------------------------------------- */

static tamis_status add_times(tamis *f, uint64_t i, uint64_t times) {
    char buffer[32];
    const struct tamis_key key = key_at(i, buffer);
    return tamis_add_times(f, key.bytes, key.len, times);
}

/* One call has the effect of as many adds; with nothing to add, none. */
static const char *add_times_is_many_adds(const subject *s) {
    enum { KEYS = 200, MAX = 7 };
    tamis *f = make(s, KEYS * MAX, 0.01, NULL), *g;
    const char *what = NULL;
    if (tamis_copy(&g, f)) abort();
    for (uint64_t i = 0; i < KEYS && !what; i++) {
        const uint64_t key = i / 2, times = i % (MAX + 1);
        tamis_status rc = TAMIS_OK;
        for (uint64_t j = 0; j < times && !rc; j++) rc = add_keys(f, key, key + 1) ? 0 : TAMIS_FULL;
        const tamis_status at_once = add_times(g, key, times);
        if (rc || at_once) {
            if (at_once != TAMIS_FULL)
                what = wrong("%llu times: %s", (unsigned long long)times, tamis_why());
            break; /* one by one some went in, at once none: they differ from here on */
        }
        if (test_info(f).items != test_info(g).items)
            what = wrong("%llu times are %llu items", (unsigned long long)times,
                         (unsigned long long)test_info(g).items);
    }
    if (!what && !same_payload(f, g) && test_info(f).items == test_info(g).items)
        what = "other bytes than by as many adds";
    tamis_free(f);
    tamis_free(g);
    return what;
}

/* Nothing is left, and what is added then makes the same bytes as in a new filter. */
static const char *clear_is_as_new(const subject *s) {
    tamis *f = make(s, N, 0.01, NULL), *fresh;
    const char *what = NULL;
    if (tamis_copy(&fresh, f)) abort();
    add_keys(f, 0, N / 2);
    const tamis_status rc = tamis_clear(f);
    if (rc && (rc != TAMIS_UNSUPPORTED || test_info(f).items != N / 2))
        what = wrong("%s", tamis_why());
    else if (!rc && (test_info(f).items || !same_payload(f, fresh)))
        what = "an emptied filter is not as a new one";
    add_keys(f, N, N + N / 2);
    add_keys(fresh, N, N + N / 2);
    if (!rc && !what && !same_payload(f, fresh)) what = "what was there has left a trace";
    if (rc && !what && !count_keys(f, 0, 1)) what = "it cannot be emptied, and is";
    tamis_free(f);
    tamis_free(fresh);
    return what;
}

/* ---- Adding what is new --------------------------------------------------------------------- */

/* A kind that cannot recognise keys refuses. */
static const char *add_new_is_refused(const subject *s) {
    tamis *f = make(s, N, 0.01, NULL), *old;
    bool is_new;
    if (tamis_copy(&old, f)) abort();
    const bool is_refused = tamis_add_new(f, "x", 1, &is_new) == TAMIS_UNSUPPORTED &&
                            tamis_add_new_hash(f, 1, &is_new) == TAMIS_UNSUPPORTED && *tamis_why();
    const bool is_same = test_is_same_image(f, old);
    tamis_free(f);
    tamis_free(old);
    if (!is_refused) return "a sketch tells whether a key is new";
    return is_same ? NULL : "what was refused changed it";
}

static const char *add_new_tells(const subject *s) {
    if (s->can & TAMIS_IS_SKETCH) return add_new_is_refused(s);
    tamis *f = make(s, N, 0.01, NULL), *old;
    const char *what = NULL;
    char buffer[32];
    for (uint64_t i = 0; i < N && !what; i++) {
        const struct tamis_key key = key_at(i, buffer);
        const bool was_there = tamis_has(f, key.bytes, key.len);
        bool is_new = was_there, again = true;
        if (tamis_add_new(f, key.bytes, key.len, &is_new)) what = tamis_why();
        if (is_new == was_there) what = wrong("key %llu is told wrong", (unsigned long long)i);
        if (!tamis_has(f, key.bytes, key.len)) what = "a key that was added is not there";
        if (i % 64) continue;
        if (tamis_copy(&old, f)) abort();
        if (tamis_add_new(f, key.bytes, key.len, &again) || again) what = "it is new twice";
        if (!(s->can & TAMIS_AGES) && !same_payload(f, old)) what = "an old key was added again";
        tamis_free(old);
    }
    tamis_free(f);
    return what;
}

/* ---- Listing -------------------------------------------------------------------------------- */

/* Listed keys, added to an empty filter of that shape, make the same filter. */
static const char *listing_rebuilds(const subject *s) {
    tamis *f = make(s, 2 * N, 0.01, NULL), *g;
    const char *what = NULL;
    uint64_t cursor = 0, hash, count, items = 0, listed = 0;
    if (tamis_copy(&g, f)) abort();
    add_keys(f, 0, N);
    add_keys(f, 0, 100);
    while (!what && tamis_next(f, &cursor, &hash, &count)) {
        items += count;
        if (++listed > N + 100) what = "the list does not end";
        for (uint64_t i = 0; i < count && !what; i++)
            if (tamis_add_hash(g, hash)) what = tamis_why();
    }
    if (!what && items != N + 100)
        what = wrong("%d adds are listed as %llu", N + 100, (unsigned long long)items);
    if (!what && !same_answers(f, g, 0, 10 * N)) what = "a filter made from the list differs";
    if (!what && s->can & TAMIS_ANY_ORDER && !same_payload(f, g)) what = "its bytes differ";
    tamis_free(f);
    tamis_free(g);
    return what;
}

/* ---- Resizing and growing ------------------------------------------------------------------- */

static bool same_shape(const tamis *a, const tamis *b) {
    const struct tamis_info x = test_info(a), y = test_info(b);
    return memcmp(x.word, y.word, sizeof x.word) == 0;
}

/* Resizing changes no answer, of members or non-members, and resizing back makes the same bytes
 * (or, from a filter that was larger than it had to be, a smaller one). */
static const char *resize_keeps_answers(const subject *s) {
    tamis *f = make(s, N, 0.001, NULL), *old;
    const char *what = NULL;
    add_keys(f, 0, N);
    if (tamis_copy(&old, f)) abort();
    for (uint64_t by = 2; by <= 4 && !what; by *= 2) {
        if (tamis_resize(f, by * N))
            what = wrong("%s", tamis_why());
        else if (!same_answers(f, old, 0, 20 * N))
            what = wrong("another answer at %llu times the size", (unsigned long long)by);
        else if (test_info(f).capacity != by * N)
            what = "the capacity is not what was asked for";
    }
    if (!what && add_keys(f, N, 4 * N) != 3 * N) what = "there is no more room than before";
    for (uint64_t i = N; i < 4 * N && !what && s->can & TAMIS_CAN_REMOVE; i++)
        if (remove_key(f, i)) what = wrong("%s", tamis_why());
    if (!what && s->can & TAMIS_CAN_REMOVE) {
        if (tamis_resize(f, N))
            what = wrong("back: %s", tamis_why());
        else if (s->can & TAMIS_ANY_ORDER && same_shape(f, old) && !same_payload(f, old))
            what = "there and back again is not the same";
    }
    tamis_free(old);
    if (tamis_copy(&old, f)) abort();
    if (!what && tamis_resize(f, 1) == TAMIS_OK && count_keys(f, 0, N) != N)
        what = "keys are lost in a filter too small for them";
    if (!what && tamis_resize(f, UINT64_MAX) == TAMIS_OK) what = "2^64 keys have room";
    if (!what &&
        (!same_answers(f, old, 0, 5 * N) || test_info(f).capacity != test_info(old).capacity))
        what = "a refused resize changed the filter";
    tamis_free(f);
    tamis_free(old);
    return what;
}

/* Through growth the rate stays as requested, and hits are what the body predicts. The last steps
 * of a stack hold few keys, so its own fill may be a little off: six errors of that many. */
static const char *growth_keeps_rate(const subject *s) {
    enum { FIRST = 500, TIMES = 256, PROBES = 40000 };
    const double asked = 0.02;
    tamis *f = make(s, FIRST, asked, NULL);
    const char *what = NULL;
    uint64_t hits = 0, probes = 0, at = 0;
    double expected = 0;
    for (uint64_t size = FIRST; size <= (uint64_t)FIRST * TIMES && !what; size += size / 2) {
        for (; at < size; at++) tamis_add_u64(f, test_number(21, at));
        const double now = tamis_fpr_now(f);
        if (now > asked * (1 + 6 / sqrt((double)FIRST)))
            what = wrong("%g at %llu keys", now, (unsigned long long)size);
        for (uint64_t i = 0; i < PROBES; i++)
            hits += tamis_has_u64(f, test_number(21, TEST_STRANGERS + probes + i));
        probes += PROBES;
        expected += now * PROBES;
    }
    if (!what && !test_is_possible(hits, probes, expected / (double)probes, TEST_ALPHA))
        what = wrong("%llu hits, the bodies say %.0f", (unsigned long long)hits, expected);
    for (uint64_t i = 0; i < at && !what; i++)
        if (!tamis_has_u64(f, test_number(21, i))) what = "a key is lost";
    tamis_free(f);
    return what;
}

/* ---- Ageing --------------------------------------------------------------------------------- */

/* The last `capacity` adds are found, after every single add, through many rotations; and far older
 * keys are non-members. */
static const char *window_holds_its_guarantee(const subject *s) {
    static const uint64_t capacities[] = {1, 2, 3, 10, 97, 500};
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        const uint64_t capacity = capacities[c], adds = 8 * capacity + 50;
        tamis *f = make(s, capacity, 0.01, NULL);
        const char *what = NULL;
        for (uint64_t i = 0; i < adds && !what; i++) {
            add_keys(f, i, i + 1);
            const uint64_t oldest = i + 1 > capacity ? i + 1 - capacity : 0;
            if (!count_keys(f, oldest, oldest + 1))
                what = wrong("capacity %llu: key %llu is gone after %llu adds",
                             (unsigned long long)capacity, (unsigned long long)oldest,
                             (unsigned long long)(i + 1));
            if (i % 50 == 0 && count_keys(f, oldest, i + 1) != i + 1 - oldest)
                what = wrong("capacity %llu: keys are missing", (unsigned long long)capacity);
        }
        tamis_free(f);
        if (what) return what;
    }
    return NULL;
}

static const char *old_keys_are_nonmembers(const tamis *f, uint64_t keys) {
    const uint64_t found = count_keys(f, 0, keys);
    if (test_is_possible(found, keys, tamis_fpr_now(f), TEST_ALPHA)) return NULL;
    return wrong("%llu of %llu old keys are still there", (unsigned long long)found,
                 (unsigned long long)keys);
}

/* Long after their time old keys are non-members, and the rate is no more than planned. Where only
 * a clock ages keys, adds alone may fill the filter; then time must empty it. */
static const char *old_keys_leave(const subject *s) {
    enum { CAPACITY = 500, ADDS = 20 * CAPACITY };
    tamis *f = make(s, CAPACITY, 0.01, NULL);
    const double max = test_info(f).fpr_expected * (1 + 6 / sqrt((double)CAPACITY));
    add_keys(f, 0, ADDS);
    const char *what = old_keys_are_nonmembers(f, 2 * CAPACITY);
    if (!what && !(s->can & TAMIS_CAN_TICK) && tamis_fpr_now(f) > max)
        what = wrong("the rate has risen to %g", tamis_fpr_now(f));
    for (uint64_t i = 0; s->can & TAMIS_CAN_TICK && i < 1000 && !what; i++)
        if (tamis_tick(f)) what = tamis_why();
    if (!what && s->can & TAMIS_CAN_TICK && tamis_fpr_now(f) > 0)
        what = "something is left after a long time";
    if (!what) add_keys(f, ADDS, ADDS + CAPACITY);
    if (!what) what = old_keys_are_nonmembers(f, 2 * CAPACITY);
    if (!what && tamis_fpr_now(f) > max) what = wrong("then the rate is %g", tamis_fpr_now(f));
    tamis_free(f);
    return what;
}

/* ---- Change logs ---------------------------------------------------------------------------- */

/* A peer that starts with nothing and receives changes from time to time has, each time, the whole
 * summary: no flip is missing, none is sent twice, and each is the current value of its bit. */
static const char *log_tells_every_flip(const subject *s) {
    tamis *f = make(s, 300, 0.01, NULL), *untold = NULL;
    const uint64_t max = test_info(f).payload_bytes * 8;
    uint8_t *peer = calloc(1, (size_t)max), *whole = calloc(1, (size_t)max);
    const char *what = NULL;
    uint64_t cursor, position;
    bool is_set;
    add_keys(f, 0, 10);
    if (!peer || !whole || tamis_copy(&untold, f)) abort();
    for (uint64_t round = 0; round < 30 && !what; round++) {
        /* Of the keys of each round some are removed at once, before they are announced, and some
         * in the next round, after that. */
        const uint64_t now = 10 * round + 10, before = now - 10;
        add_keys(f, now, now + 10);
        add_keys(untold, now, now + 10);
        for (uint64_t i = 0; s->can & TAMIS_CAN_REMOVE && i < 7; i++) {
            const uint64_t key = i < 3 ? now + i : before + i;
            if (remove_key(f, key) || remove_key(untold, key)) what = wrong("%s", tamis_why());
        }
        uint64_t min = 0;
        for (cursor = 0; !what && tamis_next_change(f, &cursor, &position, &is_set);) {
            if (position < min || position >= max)
                what = "positions are out of order";
            else if (peer[position] == is_set)
                what = "a bit that did not change is told";
            else
                peer[position] = is_set;
            min = position + 1;
        }
        if (!what && tamis_clear_changes(f)) what = tamis_why();
        cursor = 0;
        if (!what && tamis_next_change(f, &cursor, &position, &is_set)) what = "it is told twice";
        /* The other one, never announced before, sends everything that is set. */
        memset(whole, 0, (size_t)max);
        for (cursor = 0; tamis_next_change(untold, &cursor, &position, &is_set);)
            if (position < max) whole[position] = is_set;
        if (!what && memcmp(peer, whole, (size_t)max) != 0) what = "a flip was not told";
    }
    free(peer);
    free(whole);
    tamis_free(f);
    tamis_free(untold);
    return what;
}

const law change_laws[] = {
    {"remove_forgets_only_that_key", TAMIS_CAN_ADD | TAMIS_CAN_REMOVE, remove_forgets_only_that_key,
     TAMIS_MAY_FORGET},
    {"second_add_needs_second_remove", TAMIS_CAN_ADD | TAMIS_CAN_REMOVE,
     second_add_needs_second_remove, TAMIS_ADDS_ONCE},
    {"removing_strangers_is_refused", TAMIS_CAN_ADD | TAMIS_CAN_REMOVE,
     removing_nonmembers_is_refused, 0},
    {"count_never_under", TAMIS_CAN_ADD | TAMIS_CAN_COUNT, count_never_under, 0},
    {"count_follows_removes", TAMIS_CAN_ADD | TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE,
     count_follows_removes, 0},
    {"counts_keep_their_error", TAMIS_CAN_ADD | TAMIS_CAN_COUNT, counts_keep_their_error, 0},
    {"add_times_is_many_adds", TAMIS_CAN_ADD, add_times_is_many_adds, 0},
    {"clear_is_as_new", TAMIS_CAN_ADD, clear_is_as_new, TAMIS_MAY_FORGET | TAMIS_AGES},
    {"add_new_tells", TAMIS_CAN_ADD, add_new_tells, 0},
    {"listing_rebuilds", TAMIS_CAN_ADD | TAMIS_CAN_LIST, listing_rebuilds, 0},
    {"resize_keeps_answers", TAMIS_CAN_ADD | TAMIS_CAN_RESIZE, resize_keeps_answers, 0},
    {"growth_keeps_rate", TAMIS_CAN_ADD | TAMIS_CAN_GROW, growth_keeps_rate, 0},
    {"window_holds_its_guarantee", TAMIS_CAN_ADD | TAMIS_AGES, window_holds_its_guarantee,
     TAMIS_MAY_FORGET},
    {"old_keys_leave", TAMIS_CAN_ADD | TAMIS_AGES, old_keys_leave, 0},
    {"log_tells_every_flip", TAMIS_CAN_ADD | TAMIS_CAN_LOG, log_tells_every_flip, 0},
    {NULL, 0, NULL, 0},
};
