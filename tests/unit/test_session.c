/* SPDX-License-Identifier: MIT */
/* Sessions: both sides get the right lists and keys in pieces of any size, limits hold, and
 * whatever happens to the bytes, or whoever sends them, each side ends with an error message or the
 * right list after a bounded number of steps. */
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
#include "jobs/session.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"
#include "tests/support/sessions.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { MANY_STEPS = 100000 };

/* ---- Keys that contain their hash ------------------------------------------------------------ */

/* Sixteen digits and some dots. */
static bool key_of(void *ctx, uint64_t hash, const void **key, size_t *len) {
    static char text[32];
    (void)ctx;
    *len = (size_t)snprintf(text, sizeof text, "%016llx%.*s", (unsigned long long)hash,
                            (int)(hash % 7), ".......");
    *key = text;
    return true;
}

static uint64_t hash_of(void *ctx, const void *key, size_t len) {
    char text[17] = {0};
    (void)ctx;
    if (len < 16) return 0;
    memcpy(text, key, 16);
    const uint64_t hash = strtoull(text, NULL, 16);
    return len == 16 + hash % 7 ? hash : ~hash;
}

static bool has_no_key(void *ctx, uint64_t hash, const void **key, size_t *len) {
    (void)ctx, (void)hash, (void)key, (void)len;
    return false;
}

/* ---- Two sides ------------------------------------------------------------------------------- */

typedef struct pair {
    test_side sides[2]; /* the sender, then the receiver */
    struct tamis_session_options options[2];
    tamis_session *sessions[2];
} pair;

static pair sets(uint64_t family, size_t common, size_t left, size_t right) {
    static const uint8_t nonces[2][16] = {"one of the sides", "another of them."};
    pair p;
    memset(&p, 0, sizeof p);
    test_sets(family, common, left, right, p.sides);
    for (int s = 0; s < 2; s++)
        p.options[s] = (struct tamis_session_options){.struct_size = sizeof p.options[s],
                                                      .hash = "xxh3",
                                                      .nonce = nonces[s],
                                                      .key_of = key_of,
                                                      .hash_of = hash_of};
    return p;
}

static void open_session(pair *p, int s) {
    REQUIRE_OK(tamis_session_create(&p->sessions[s], s ? TAMIS_RECEIVER : TAMIS_SENDER,
                                    p->sides[s].hashes, p->sides[s].n, &p->options[s]));
}

static void open_both(pair *p) {
    open_session(p, 0);
    open_session(p, 1);
}

static void close_both(pair *p) {
    for (int s = 0; s < 2; s++) tamis_session_free(p->sessions[s]);
    memset(p->sessions, 0, sizeof p->sessions);
}

static void forget(pair *p) {
    close_both(p);
    test_sets_free(p->sides);
}

static bool has(const test_side *side, uint64_t hash) {
    for (size_t i = 0; i < side->n; i++)
        if (side->hashes[i] == hash) return true;
    return false;
}

/* Every item is right, and none is listed twice. */
static size_t check_items(const pair *p, int s) {
    struct tamis_session_item item;
    uint64_t cursor = 0, *seen = calloc(p->sides[0].n + p->sides[1].n + 1, sizeof *seen);
    size_t n = 0;
    while (tamis_session_next(p->sessions[s], &cursor, &item)) {
        const int owner = item.is_ours ? s : !s;
        assert_true(has(&p->sides[owner], item.hash) && !has(&p->sides[!owner], item.hash));
        for (size_t i = 0; i < n; i++) assert_true(seen[i] != item.hash);
        seen[n++] = item.hash;
        const bool has_key = !item.is_ours && p->options[s].wants == TAMIS_WANTS_KEYS;
        assert_int_equal(item.key != NULL, has_key);
        if (has_key) assert_true(hash_of(NULL, item.key, item.len) == item.hash);
    }
    free(seen);
    return n;
}

static void expect_whole(const pair *p, int s, size_t d) {
    struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
    REQUIRE_OK(tamis_session_finish(p->sessions[s]));
    tamis_session_get_info(p->sessions[s], &info);
    assert_true(info.is_whole && !info.is_partial);
    assert_int_equal(info.ours + info.theirs, d);
    assert_int_equal(info.our_n, p->sides[s].n);
    assert_int_equal(info.their_n, p->sides[!s].n);
    /* A sender that wants nothing learns at most which keys the receiver wants. */
    const bool lists_all = s == 1 || p->options[s].wants != TAMIS_WANTS_NOTHING;
    const uint64_t few = p->options[!s].wants == TAMIS_WANTS_KEYS ? info.ours : 0;
    assert_int_equal(check_items(p, s), lists_all ? d : few);
}

/* ---- Both ways ------------------------------------------------------------------------------- */

static void both_sides_learn_what_differs(void **state) {
    (void)state;
    static const size_t tries[][3] = {{0, 0, 0},   {1, 0, 0},   {0, 1, 0},  {0, 0, 1},
                                      {60, 0, 0},  {60, 3, 0},  {60, 0, 3}, {60, 30, 7},
                                      {0, 90, 80}, {5, 400, 1}, {5, 1, 400}};
    static const size_t pieces[] = {1, 7, 4096};
    for (size_t i = 0; i < COUNT_OF(tries) * COUNT_OF(pieces); i++) {
        const size_t *t = tries[i / COUNT_OF(pieces)];
        for (int wants = 0; wants < 9; wants++) {
            pair p = sets(100 + i, t[0], t[1], t[2]);
            p.options[0].wants = (enum tamis_wants)(wants % 3);
            p.options[1].wants = (enum tamis_wants)(wants / 3);
            open_both(&p);
            assert_true(test_converse(p.sessions[0], p.sessions[1], pieces[i % COUNT_OF(pieces)],
                                      MANY_STEPS));
            for (int s = 0; s < 2; s++) expect_whole(&p, s, t[1] + t[2]);
            forget(&p);
        }
    }
}

/* Symbols sent beyond those needed, and their cost, are as the header promises. */
static void few_symbols_too_many_are_sent(void **state) {
    (void)state;
    for (size_t d = 0; d < 3000; d = d * 3 / 2 + 1) {
        pair p = sets(d, 100, d / 2, d - d / 2);
        struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
        open_both(&p);
        assert_true(test_converse(p.sessions[0], p.sessions[1], 4096, MANY_STEPS));
        REQUIRE_OK(tamis_session_finish(p.sessions[1]));
        tamis_session_get_info(p.sessions[0], &info);
        const uint64_t part = info.symbols_needed / 8, max = part > 64 ? part : 64;
        assert_in_range(info.symbols_needed, d ? d : 1, 2 * d + 200);
        assert_in_range(info.symbols - info.symbols_needed, 0, max);
        assert_true(info.symbol_bytes < info.symbols * 16 + 4096);
        forget(&p);
    }
}

/* C(m, a) C(2^64 - m, b) by hand, for 10 of ours: drop one and take one; take two; drop two. */
static void the_bound_is_the_number_of_sets(void **state) {
    (void)state;
    static const struct {
        size_t common, sender, asker;
        double bits;
    } tries[] = {
        {10, 0, 0, 0}, {9, 1, 1, 64 + 3.32192809489}, {10, 2, 0, 127}, {8, 0, 2, 5.49185309633}};
    for (size_t i = 0; i < COUNT_OF(tries); i++) {
        pair p = sets(60 + i, tries[i].common, tries[i].sender, tries[i].asker);
        struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
        open_both(&p);
        assert_true(test_converse(p.sessions[0], p.sessions[1], 4096, MANY_STEPS));
        for (int s = 0; s < 2; s++) {
            tamis_session_get_info(p.sessions[s], &info);
            assert_true(fabs(info.bound_bits - tries[i].bits) < 1e-6);
        }
        forget(&p);
    }
}

/* ---- One way --------------------------------------------------------------------------------- */

static pair one_way(size_t d, uint64_t symbols) {
    pair p = sets(500 + d, 300, d / 2, d - d / 2);
    p.options[0].is_one_way = p.options[1].is_one_way = true;
    p.options[0].symbols = symbols;
    open_both(&p);
    assert_true(test_converse(p.sessions[0], p.sessions[1], 100, MANY_STEPS));
    REQUIRE_OK(tamis_session_finish(p.sessions[0]));
    assert_int_equal(tamis_session_output(p.sessions[1], &p, 1), 0);
    return p;
}

static void a_stream_one_way(void **state) {
    (void)state;
    struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
    pair p = one_way(20, 200);
    expect_whole(&p, 1, 20);
    REQUIRE_OK(tamis_session_input(p.sessions[1], "what comes behind it", 20));
    forget(&p);

    p = one_way(400, 0); /* enough for 1000 */
    tamis_session_get_info(p.sessions[0], &info);
    assert_int_equal(info.symbols, tamis_symbols_enough(1000));
    expect_whole(&p, 1, 400);
    forget(&p);

    p = one_way(200, 150);
    assert_int_equal(tamis_session_finish(p.sessions[1]), TAMIS_PARTIAL);
    assert_true(strstr(tamis_why(), "150 symbols were too few") != NULL);
    tamis_session_get_info(p.sessions[1], &info);
    assert_true(info.is_partial && !info.is_whole && !info.symbols_needed);
    assert_in_range(check_items(&p, 1), 0, 199);
    forget(&p);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void too_large_a_difference_is_partial(void **state) {
    (void)state;
    for (int who = 0; who < 2; who++) {
        pair p = sets(70, 50, 100, 100);
        struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
        p.options[who].max_symbols = 220;
        open_both(&p);
        assert_true(test_converse(p.sessions[0], p.sessions[1], 100, MANY_STEPS));
        for (int s = 0; s < 2; s++) {
            assert_int_equal(tamis_session_finish(p.sessions[s]), TAMIS_PARTIAL);
            tamis_session_get_info(p.sessions[s], &info);
            assert_true(info.is_partial);
            assert_int_equal(info.symbols, 220);
            assert_in_range(check_items(&p, s), 1, 199);
        }
        forget(&p);
    }
}

/* One side refuses, and the other learns why. */
static void expect_failure(pair *p, int s, tamis_status status, const char *why) {
    open_both(p);
    assert_true(test_converse(p->sessions[0], p->sessions[1], 100, MANY_STEPS));
    for (int i = 0; i < 2; i++) { /* permanently */
        assert_int_equal(tamis_session_finish(p->sessions[s]), status);
        if (!strstr(tamis_why(), why)) fail_msg("'%s' does not say '%s'", tamis_why(), why);
        assert_int_equal(tamis_session_input(p->sessions[s], "", 1), status);
    }
    assert_true(tamis_session_finish(p->sessions[!s]) != TAMIS_OK || p->options[!s].is_one_way);
    assert_true(tamis_session_is_over(p->sessions[0]) && tamis_session_is_over(p->sessions[1]));
    assert_int_equal(check_items(p, s), 0);
    forget(p);
}

static void mismatched_sides_fail(void **state) {
    (void)state;
    pair p = sets(1, 5, 1, 1);
    p.options[0].hash = "sip13 key=\x1b[31m";
    expect_failure(&p, 1, TAMIS_MISMATCH, "by 'sip13 key=?[31m' there and by 'xxh3' here");
    p = sets(1, 5, 1, 1);
    p.options[0].wants = TAMIS_WANTS_KEYS;
    p.options[1].key_of = NULL;
    expect_failure(&p, 1, TAMIS_MISMATCH, "wants keys");
    p = sets(1, 5, 1, 1);
    p.options[1].max_keys = 5;
    expect_failure(&p, 1, TAMIS_TOO_LARGE, "has 6 keys: at most 5");
    p = sets(1, 5, 1, 1);
    p.options[1].max_bytes = 500;
    expect_failure(&p, 1, TAMIS_TOO_LARGE, "more than the 500 bytes");
    p = sets(1, 50, 10, 10);
    p.options[0].wants = p.options[1].wants = TAMIS_WANTS_KEYS;
    p.options[1].max_key_bytes = 15;
    expect_failure(&p, 1, TAMIS_TOO_LARGE, "over the limit of 15");
    p = sets(1, 50, 10, 10);
    p.options[0].wants = p.options[1].wants = TAMIS_WANTS_KEYS;
    p.options[0].key_of = has_no_key;
    expect_failure(&p, 1, TAMIS_CANCELLED, "stopped: no key for hash");
    p = sets(1, 50, 0, 10);
    p.options[1].wants = TAMIS_WANTS_KEYS;
    p.options[0].is_one_way = true;
    expect_failure(&p, 1, TAMIS_MISMATCH, "one-way");
}

static void two_of_a_side_fail(void **state) {
    (void)state;
    for (int side = 1; side <= 2; side++) {
        pair p = sets(1, 5, 1, 1);
        for (int s = 0; s < 2; s++)
            REQUIRE_OK(tamis_session_create(&p.sessions[s], (enum tamis_side)side,
                                            p.sides[s].hashes, p.sides[s].n, &p.options[s]));
        assert_true(test_converse(p.sessions[0], p.sessions[1], 100, MANY_STEPS));
        assert_int_equal(tamis_session_finish(p.sessions[1]), TAMIS_MISMATCH);
        assert_int_equal(tamis_session_finish(p.sessions[0]), TAMIS_CANCELLED);
        forget(&p);
    }
}

static void options_are_checked(void **state) {
    (void)state;
    char text[400];
    const uint64_t twice[] = {3, 3};
    tamis_session *t;
    memset(text, 'x', sizeof text);
    text[256] = 0;
    const struct tamis_session_options bad[] = {
        {.struct_size = 1},
        {.struct_size = sizeof *bad, .hash = text},
        {.struct_size = sizeof *bad, .wants = (enum tamis_wants)3},
        {.struct_size = sizeof *bad, .wants = TAMIS_WANTS_KEYS},
        {.struct_size = sizeof *bad,
         .wants = TAMIS_WANTS_KEYS,
         .hash_of = hash_of,
         .is_one_way = true},
        {.struct_size = sizeof *bad, .max_key_bytes = 1 << 24},
        {.struct_size = sizeof *bad, .max_symbols = UINT64_MAX},
        {.struct_size = sizeof *bad, .max_keys = UINT64_MAX},
        {.struct_size = sizeof *bad, .max_bytes = UINT64_MAX},
        {.struct_size = sizeof *bad, .symbols = UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(tamis_session_create(&t, TAMIS_RECEIVER, twice, 1, &bad[i]),
                         TAMIS_INVALID);
        assert_null(t);
        assert_true(strncmp(tamis_why(), "options", 7) == 0);
    }
    assert_int_equal(tamis_session_create(&t, TAMIS_RECEIVER, twice, 2, NULL), TAMIS_INVALID);
    assert_true(strstr(tamis_why(), "is a duplicate") != NULL);
    assert_int_equal(tamis_session_create(&t, (enum tamis_side)0, twice, 1, NULL), TAMIS_INVALID);
    REQUIRE_OK(tamis_session_create(&t, TAMIS_RECEIVER, twice, 1, NULL));
    tamis_session_free(t);
    tamis_session_free(NULL);
}

/* Without a nonce in the options, each session draws one. */
static void nonces_are_drawn(void **state) {
    (void)state;
    uint8_t bytes[2][100];
    for (int i = 0; i < 2; i++) {
        tamis_session *t;
        REQUIRE_OK(tamis_session_create(&t, TAMIS_SENDER, NULL, 0, NULL));
        assert_int_equal(tamis_session_output(t, bytes[i], 100), 8 + 10 + TAMIS_HELLO_BYTES);
        tamis_session_free(t);
    }
    assert_memory_not_equal(bytes[0] + 18, bytes[1] + 18, 16);
}

/* ---- Accidents ------------------------------------------------------------------------------- */

enum accident { FLIP, DROP, DOUBLE, CUT, ACCIDENTS };

typedef struct wire {
    uint64_t at[2];    /* bytes sent so far by the first and by the second side */
    int who;           /* whose byte is hit, ... */
    uint64_t where;    /* ... which one, ... */
    enum accident how; /* ... and how */
    int bit;
    uint64_t steps;
} wire;

/* Returns the number of bytes delivered, usually one. */
static size_t deliver(wire *w, int who, uint8_t byte, uint8_t out[2]) {
    const uint64_t here = w->at[who]++;
    out[0] = out[1] = byte;
    if (who != w->who || here < w->where) return 1;
    if (w->how == CUT) return 0;
    if (here > w->where) return 1;
    if (w->how == FLIP) out[0] ^= (uint8_t)(1 << w->bit);
    return w->how == DROP ? 0 : w->how == DOUBLE ? 2 : 1;
}

static bool carry(wire *w, pair *p, int from) {
    uint8_t bytes[256], out[2];
    bool is_moving = false;
    size_t size;
    while ((size = tamis_session_output(p->sessions[from], bytes, sizeof bytes)) > 0) {
        is_moving = true;
        assert_true(++w->steps < MANY_STEPS);
        for (size_t i = 0; i < size; i++) {
            const size_t n = deliver(w, from, bytes[i], out);
            if (n && !tamis_session_is_over(p->sessions[!from]))
                (void)tamis_session_input(p->sessions[!from], out, n);
        }
    }
    return is_moving;
}

static void converse(wire *w, pair *p) {
    open_both(p);
    for (bool is_moving = true; is_moving;) {
        is_moving = carry(w, p, 0);
        is_moving |= carry(w, p, 1);
    }
}

/* Right, or an error with a message; never an incomplete list that looks complete. */
static bool expect_right_or_error(pair *p, int s, size_t d) {
    const tamis_status rc = tamis_session_finish(p->sessions[s]);
    if (rc == TAMIS_OK)
        assert_int_equal(check_items(p, s), d);
    else {
        assert_true(rc != TAMIS_PARTIAL && strlen(tamis_why()) > 10);
        assert_int_equal(check_items(p, s), 0);
    }
    return rc == TAMIS_OK;
}

static void accidents_never_make_a_wrong_list(void **state) {
    (void)state;
    pair p = sets(9, 30, 3, 4);
    p.options[0].wants = p.options[1].wants = TAMIS_WANTS_KEYS;
    wire quiet = {.who = -1};
    uint64_t survived = 0, accidents = 0;
    converse(&quiet, &p);
    for (int s = 0; s < 2; s++) assert_true(expect_right_or_error(&p, s, 7));
    assert_true(quiet.at[0] + quiet.at[1] < 3000); /* few enough to try all */
    close_both(&p);
    for (int who = 0; who < 2; who++) {
        for (uint64_t where = 0; where < quiet.at[who]; where++) {
            for (int how = 0; how < ACCIDENTS; how++) {
                wire w = {.who = who,
                          .where = where,
                          .how = (enum accident)how,
                          .bit = (int)(where * 5 % 8)};
                converse(&w, &p);
                /* The side that sent it may have all it wants; the other must notice. */
                const bool other_is_right = expect_right_or_error(&p, !who, 7);
                expect_right_or_error(&p, who, 7);
                survived += other_is_right;
                accidents++;
                close_both(&p);
            }
        }
    }
    assert_int_equal(survived, 1); /* the receiver's last byte doubled: it is not read */
    assert_true(accidents > 4000);
    forget(&p);
}

/* The same for a stream in a file: truncated anywhere it is an error, or was already whole. */
static void accidents_of_a_stream_one_way(void **state) {
    (void)state;
    pair p = sets(9, 30, 3, 4);
    p.options[0].is_one_way = p.options[1].is_one_way = true;
    p.options[0].symbols = 20;
    wire quiet = {.who = -1};
    converse(&quiet, &p);
    assert_true(expect_right_or_error(&p, 1, 7));
    close_both(&p);
    for (uint64_t where = 0; where < quiet.at[0]; where++) {
        for (int how = 0; how < ACCIDENTS; how++) {
            wire w = {.where = where, .how = (enum accident)how, .bit = (int)(where * 3 % 8)};
            converse(&w, &p);
            expect_right_or_error(&p, 1, 7);
            close_both(&p);
        }
    }
    forget(&p);
}

/* ---- Liars: valid frames with false contents ------------------------------------------------- */

/* A side that sends anything. It knows the peer's nonce, as a real one would. */
typedef struct liar {
    struct tamis_allocator allocator;
    test_failing_allocator failing;
    tamis_buffer out;
    uint64_t frames;
} liar;

static void say(liar *l, uint8_t type, const void *body, uint64_t size) {
    uint64_t start;
    REQUIRE_OK(tamis__frame_open(&l->allocator, &l->out, type, &start));
    REQUIRE_OK(tamis__buffer_put(&l->allocator, &l->out, body, size));
    REQUIRE_OK(tamis__frame_close(&l->allocator, &l->out, start, l->frames++));
}

static void say_hello(liar *l, enum tamis_side side, enum tamis_wants wants, uint64_t n) {
    uint8_t body[TAMIS_HELLO_BYTES + 4] = {(uint8_t)side, 0, (uint8_t)wants, 1};
    tamis__put64(body + 20, n);
    body[28] = 4;
    memcpy(body + 29, "xxh3", 4);
    REQUIRE_OK(tamis__buffer_put(&l->allocator, &l->out, tamis__session_magic, TAMIS_MAGIC_BYTES));
    say(l, TAMIS_MSG_HELLO, body, sizeof body);
}

static void say_digest(liar *l) {
    const uint8_t body[16] = {1};
    say(l, TAMIS_MSG_DIGEST, body, sizeof body);
}

static liar *new_liar(void) {
    liar *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->allocator = test_allocator(&l->failing);
    return l;
}

static void free_liar(liar *l) {
    tamis__buffer_free(&l->allocator, &l->out);
    assert_int_equal(l->failing.blocks, 0);
    free(l);
}

/* Sends the liar's messages to the side under test, drops its replies and returns its status.
 * Memory stays proportional to the messages. */
static tamis_status send_to(pair *p, int s, liar *l) {
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const struct tamis_options memory = {.struct_size = sizeof memory, .allocator = &allocator};
    uint8_t bytes[1000];
    p->options[s].memory = &memory;
    open_session(p, s);
    const size_t before = failing.bytes;
    tamis_status rc = TAMIS_OK;
    for (uint64_t at = 0; at < l->out.size && !rc && !tamis_session_is_over(p->sessions[s]);) {
        const uint64_t left = l->out.size - at, size = left < 50 ? left : 50;
        uint64_t steps = 0;
        while (tamis_session_output(p->sessions[s], bytes, sizeof bytes))
            assert_true(++steps < MANY_STEPS);
        rc = tamis_session_input(p->sessions[s], l->out.bytes + at, (size_t)size);
        at += size;
    }
    while (tamis_session_output(p->sessions[s], bytes, sizeof bytes)) {
    }
    rc = tamis_session_finish(p->sessions[s]);
    if (!rc) check_items(p, s);
    assert_in_range(failing.max_bytes, before, before + 20 * l->out.size + (1 << 21));
    close_both(p);
    assert_int_equal(failing.blocks, 0);
    p->options[s].memory = NULL;
    return rc;
}

static void expect_caught(pair *p, int s, liar *l, const char *why) {
    const tamis_status rc = send_to(p, s, l);
    if (rc == TAMIS_OK || !strstr(tamis_why(), why))
        fail_msg("'%s' was said, and not '%s'", rc ? tamis_why() : "nothing", why);
    free_liar(l);
}

/* For a sender with 12 hashes; the liar claims 10. */
static liar *lying_receiver(enum tamis_wants wants) {
    liar *l = new_liar();
    say_hello(l, TAMIS_RECEIVER, wants, 10);
    say_digest(l);
    return l;
}

static void say_number(liar *l, uint8_t type, uint64_t number) {
    uint8_t body[8];
    tamis__put64(body, number);
    say(l, type, body, sizeof body);
}

static void say_done(liar *l, bool is_whole, uint64_t used, uint64_t asker, uint64_t sender) {
    uint8_t body[TAMIS_DONE_BYTES] = {is_whole};
    tamis__put64(body + 1, used);
    tamis__put64(body + 9, asker);
    tamis__put64(body + 17, sender);
    say(l, TAMIS_MSG_DONE, body, sizeof body);
}

static void say_list(liar *l, uint8_t which, uint64_t a, uint64_t b) {
    uint8_t body[17] = {which};
    tamis__put64(body + 1, a);
    tamis__put64(body + 9, b);
    say(l, TAMIS_MSG_LIST, body, sizeof body);
}

static void lying_receivers_are_caught(void **state) {
    (void)state;
    pair p = sets(33, 12, 0, 0);
    const uint64_t a = p.sides[0].hashes[0], b = p.sides[0].hashes[1];
    liar *l = lying_receiver(TAMIS_WANTS_HASHES);
    say_number(l, TAMIS_MSG_MORE, 64);
    say_number(l, TAMIS_MSG_MORE, 64);
    expect_caught(&p, 0, l, "up to 64 requested");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_number(l, TAMIS_MSG_MORE, UINT64_MAX);
    expect_caught(&p, 0, l, "at most 2^32");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 7, 0, 2);
    expect_caught(&p, 0, l, "more symbols or hashes than exist");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 0, 13);
    expect_caught(&p, 0, l, "more symbols or hashes than exist");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 1, 2);
    expect_caught(&p, 0, l, "do not add up");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 0, 2);
    say_list(l, TAMIS_SENDER_HAS, a, 5);
    expect_caught(&p, 0, l, "as ours a hash that is not");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 0, 2);
    say_list(l, TAMIS_SENDER_HAS, a, a);
    expect_caught(&p, 0, l, "as ours a hash that is not, or a duplicate");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 2, 4);
    say_list(l, TAMIS_RECEIVER_HAS, 5, b);
    expect_caught(&p, 0, l, "as its own a hash that is ours");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 2, 4);
    say_list(l, TAMIS_RECEIVER_HAS, 5, 5);
    expect_caught(&p, 0, l, "as its own a hash that is ours, or a duplicate");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 1, 3);
    say_list(l, TAMIS_RECEIVER_HAS, 5, 6);
    expect_caught(&p, 0, l, "more hashes than it announced");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 0, 2);
    say_list(l, 2, a, b);
    expect_caught(&p, 0, l, "list 2 was not expected");
    l = lying_receiver(TAMIS_WANTS_HASHES);
    say_done(l, true, 0, 0, 2);
    say_list(l, TAMIS_SENDER_HAS, a, b);
    expect_caught(&p, 0, l, "do not match its digest");
    forget(&p);
}

/* A key with the wrong hash, keys that were not requested, and false lengths. */
static void liars_with_keys_are_caught(void **state) {
    (void)state;
    pair p = sets(33, 12, 0, 0);
    static const struct {
        const char *body;
        size_t size;
        const char *why;
    } tries[] = {
        {"\x10"
         "0000000000000007",
         17, "the wrong hash"},
        {"\x05"
         "00000",
         6, "the wrong hash"},
        {"\x15"
         "0000000000000005.....\x15"
         "0000000000000005.....",
         44, "more keys than were requested"},
        {"\x16"
         "0000000000000005.....",
         22, "truncated"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "truncated"},
        {"\xff", 1, "truncated"},
        {"\x80\x00", 2, "truncated"},
        {"", 0, "cannot have 0 bytes"},
    };
    p.options[0].wants = TAMIS_WANTS_KEYS;
    for (size_t i = 0; i < COUNT_OF(tries); i++) {
        uint8_t list[9] = {TAMIS_RECEIVER_HAS};
        liar *l = lying_receiver(TAMIS_WANTS_NOTHING);
        tamis__put64(list + 1, 5);
        say_done(l, false, 0, 1, 0);
        say(l, TAMIS_MSG_LIST, list, sizeof list);
        say(l, TAMIS_MSG_KEYS, tries[i].body, tries[i].size);
        expect_caught(&p, 0, l, tries[i].why);
    }
    forget(&p);
}

static void say_symbol(liar *l, uint64_t sum, uint8_t count) {
    uint8_t body[TAMIS_SYMBOL_FIXED + 1] = {0};
    tamis__put64(body, sum);
    body[TAMIS_SYMBOL_FIXED] = count;
    say(l, TAMIS_MSG_SYMBOLS, body, sizeof body);
}

static liar *lying_sender(void) {
    liar *l = new_liar();
    say_hello(l, TAMIS_SENDER, TAMIS_WANTS_HASHES, 10);
    say_digest(l);
    return l;
}

static void lying_senders_are_caught(void **state) {
    (void)state;
    pair p = sets(33, 12, 0, 0);
    liar *l = lying_sender();
    say_symbol(l, 1, 1);
    expect_caught(&p, 1, l, "symbol 0 whose count");
    l = lying_sender();
    say_symbol(l, 1, 0);
    say_symbol(l, 1, 100);
    expect_caught(&p, 1, l, "symbol 1 of the stream counts 57 hashes: 0 to 10");
    l = lying_sender();
    say(l, TAMIS_MSG_SYMBOLS, "too short", 9);
    expect_caught(&p, 1, l, "truncated");
    l = lying_sender();
    for (int i = 0; i < 100; i++) say_symbol(l, i ? 1 : 77, 0);
    expect_caught(&p, 1, l, "stopped early");
    l = lying_sender();
    say(l, TAMIS_MSG_END, NULL, 0);
    expect_caught(&p, 1, l, "before everything was sent");
    l = lying_sender();
    say(l, TAMIS_MSG_KEYS, "\x01x", 2);
    expect_caught(&p, 1, l, "'keys' was not expected");
    l = lying_sender();
    say_number(l, TAMIS_MSG_MORE, 64);
    expect_caught(&p, 1, l, "'more' was not expected");
    l = lying_sender();
    say(l, 77, NULL, 0);
    expect_caught(&p, 1, l, "unknown message 77");
    l = new_liar();
    say(l, TAMIS_MSG_DIGEST, NULL, 0);
    expect_caught(&p, 1, l, "does not speak this protocol");
    l = new_liar();
    REQUIRE_OK(tamis__buffer_put(&l->allocator, &l->out, "\x93TALK\r\n\x02", 8));
    expect_caught(&p, 1, l, "version 2");
    forget(&p);
}

/* More symbols than were requested: the liar ignores requests and keeps sending. */
static void floods_are_refused(void **state) {
    (void)state;
    enum { N = 1000 };
    pair p = sets(34, 12, 0, 0);
    uint8_t *body = calloc(N, TAMIS_SYMBOL_FIXED + 1);
    liar *l = lying_sender();
    for (int i = 0; i < N; i++) body[i * (TAMIS_SYMBOL_FIXED + 1)] = (uint8_t)(i | 1);
    say(l, TAMIS_MSG_SYMBOLS, body, N * (TAMIS_SYMBOL_FIXED + 1));
    expect_caught(&p, 1, l, "more symbols than were requested");
    free(body);
    forget(&p);
}

/* A length over the limit is refused from its header alone, before anything is stored. */
static void long_frames_are_not_stored(void **state) {
    (void)state;
    pair p = sets(35, 2, 0, 0);
    liar *l = new_liar();
    uint8_t *body = calloc(1, 1 << 20);
    say_hello(l, TAMIS_SENDER, TAMIS_WANTS_HASHES, 1);
    say(l, TAMIS_MSG_DIGEST, body, 1 << 20);
    l->out.size -= 1 << 20;
    expect_caught(&p, 1, l, "a message 'digest' of 1048576 bytes: at most 16 are allowed");
    free(body);
    forget(&p);
}

/* Any frames in any order, with random bodies, to both sides. None may be believed. */
static void chatter_is_refused(void **state) {
    (void)state;
    pair p = sets(36, 12, 2, 2);
    int reached[TAMIS_MESSAGES] = {0};
    for (uint64_t trial = 0; trial < 20000; trial++) {
        const int s = trial & 1;
        liar *l = new_liar();
        say_hello(l, s ? TAMIS_SENDER : TAMIS_RECEIVER, (enum tamis_wants)(trial / 2 % 3),
                  trial % 20);
        if (trial % 50) say_digest(l);
        for (uint64_t i = 0; i < 6; i++) {
            uint8_t body[64];
            const uint64_t luck = test_number(trial, i);
            for (uint64_t k = 0; k < 8; k++) tamis__put64(body + 8 * k, test_number(luck, k));
            if (luck >> 63) memset(body + luck % 32, 0, 32);
            body[0] %= 3;
            const uint8_t type = (uint8_t)(1 + (luck >> 8) % (TAMIS_MESSAGES - 1));
            reached[type]++;
            say(l, type, body, (luck >> 16) % 5 ? (luck >> 24) % 64 : 8 + (luck >> 24) % 3 * 8);
        }
        const tamis_status rc = send_to(&p, s, l);
        assert_true(rc != TAMIS_OK);
        assert_true(rc == TAMIS_PARTIAL || strlen(tamis_why()) > 10);
        free_liar(l);
    }
    for (int i = 1; i < TAMIS_MESSAGES; i++) assert_true(reached[i] > 1000);
    forget(&p);
}

/* ---- Whole frames ---------------------------------------------------------------------------- */

/* A one-way stream, and where its frames start; starts[n] is the end. */
typedef struct recorded {
    uint8_t bytes[4096];
    size_t size, starts[32], n;
} recorded;

static recorded record(pair *p) {
    recorded r = {.n = 0};
    p->options[0].is_one_way = p->options[1].is_one_way = true;
    p->options[0].symbols = 20;
    open_session(p, 0);
    r.size = tamis_session_output(p->sessions[0], r.bytes, sizeof r.bytes);
    close_both(p);
    for (size_t at = TAMIS_MAGIC_BYTES; at < r.size; r.n++) {
        uint8_t type;
        uint32_t length;
        assert_true(tamis__frame_head(r.bytes + at, &type, &length));
        r.starts[r.n] = at;
        at += TAMIS_FRAME_HEAD + length + TAMIS_FRAME_FOOT;
    }
    r.starts[r.n] = r.size;
    assert_int_equal(r.n, 4); /* hello, digest, symbols, end */
    return r;
}

static size_t add_frame(const recorded *r, size_t frame, uint8_t *to, size_t at) {
    const size_t size = r->starts[frame + 1] - r->starts[frame];
    memcpy(to + at, r->bytes + r->starts[frame], size);
    return at + size;
}

static tamis_status read_one_way(pair *p, const uint8_t *bytes, size_t size) {
    open_session(p, 1);
    (void)tamis_session_input(p->sessions[1], bytes, size);
    const tamis_status rc = tamis_session_finish(p->sessions[1]);
    close_both(p);
    return rc;
}

/* One valid frame comes twice: the second has the wrong number. */
static void a_frame_belongs_to_its_place(void **state) {
    (void)state;
    pair p = sets(21, 30, 9, 9); /* too many for 20 symbols */
    const recorded r = record(&p);
    assert_int_equal(read_one_way(&p, r.bytes, r.size), TAMIS_PARTIAL);
    uint8_t bytes[2 * sizeof r.bytes];
    size_t size = r.starts[3];
    memcpy(bytes, r.bytes, size);
    size = add_frame(&r, 2, bytes, size);
    size = add_frame(&r, 3, bytes, size);
    assert_int_equal(read_one_way(&p, bytes, size), TAMIS_CORRUPT);
    assert_string_equal(tamis_why(), "message 3 is damaged: its bytes do not match its checksum");
    forget(&p);
}

/* Honest symbols with the digest of another set. */
static void the_digest_has_the_last_word(void **state) {
    (void)state;
    pair p = sets(22, 30, 2, 2);
    const recorded honest = record(&p);
    assert_int_equal(read_one_way(&p, honest.bytes, honest.size), TAMIS_OK);
    for (size_t byte = 0; byte < 16; byte++) {
        recorded r = honest;
        liar *l = new_liar();
        REQUIRE_OK(tamis__buffer_put(&l->allocator, &l->out, r.bytes, r.starts[1]));
        uint8_t *digest = r.bytes + r.starts[1] + TAMIS_FRAME_HEAD;
        digest[byte] ^= 1;
        l->frames = 1;
        say(l, TAMIS_MSG_DIGEST, digest, 16);
        REQUIRE_OK(
            tamis__buffer_put(&l->allocator, &l->out, r.bytes + r.starts[2], r.size - r.starts[2]));
        assert_int_equal(read_one_way(&p, l->out.bytes, (size_t)l->out.size), TAMIS_CORRUPT);
        assert_true(strstr(tamis_why(), "its digest does not match") != NULL);
        free_liar(l);
    }
    forget(&p);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool live(test_failing_allocator *failing) {
    const struct tamis_allocator allocator = test_allocator(failing);
    const struct tamis_options memory = {.struct_size = sizeof memory, .allocator = &allocator};
    pair p = sets(12, 20, 150, 10);
    bool is_good = true;
    for (int s = 0; s < 2; s++) {
        p.options[s].memory = &memory;
        p.options[s].wants = TAMIS_WANTS_KEYS;
        is_good &= tamis_session_create(&p.sessions[s], s ? TAMIS_RECEIVER : TAMIS_SENDER,
                                        p.sides[s].hashes, p.sides[s].n, &p.options[s]) == TAMIS_OK;
    }
    if (is_good) {
        assert_true(test_converse(p.sessions[0], p.sessions[1], 4096, MANY_STEPS));
        for (int s = 0; s < 2; s++)
            if (tamis_session_finish(p.sessions[s]))
                is_good = false;
            else
                assert_int_equal(check_items(&p, s), 160);
    }
    forget(&p);
    return is_good;
}

static void out_of_memory_is_safe(void **state) {
    (void)state;
    test_failing_allocator whole = {0};
    assert_true(live(&whole));
    assert_int_equal(whole.blocks, 0);
    assert_true(whole.calls > 20);
    for (long at = 1; at <= whole.calls; at++) {
        test_failing_allocator failing = {.fail_at = at};
        assert_false(live(&failing));
        assert_int_equal(failing.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_learn_what_differs),
        cmocka_unit_test(few_symbols_too_many_are_sent),
        cmocka_unit_test(the_bound_is_the_number_of_sets),
        cmocka_unit_test(a_stream_one_way),
        cmocka_unit_test(too_large_a_difference_is_partial),
        cmocka_unit_test(mismatched_sides_fail),
        cmocka_unit_test(two_of_a_side_fail),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(nonces_are_drawn),
        cmocka_unit_test(accidents_never_make_a_wrong_list),
        cmocka_unit_test(accidents_of_a_stream_one_way),
        cmocka_unit_test(lying_receivers_are_caught),
        cmocka_unit_test(liars_with_keys_are_caught),
        cmocka_unit_test(lying_senders_are_caught),
        cmocka_unit_test(floods_are_refused),
        cmocka_unit_test(long_frames_are_not_stored),
        cmocka_unit_test(chatter_is_refused),
        cmocka_unit_test(a_frame_belongs_to_its_place),
        cmocka_unit_test(the_digest_has_the_last_word),
        cmocka_unit_test(out_of_memory_is_safe),
    };
    return cmocka_run_group_tests_name("talk", tests, NULL, NULL);
}
