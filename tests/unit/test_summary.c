/* SPDX-License-Identifier: MIT */
/* Summary Cache: messages byte by byte, copies that equal what was announced, and what happens to
 * messages in transit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits/packed.h"
#include "core/filter.h"
#include "tamis_jobs.h"
#include "tamis_math.h"
#include "tests/support/bounds.h"
#include "tests/support/failing_allocator.h"
#include "tests/support/filters.h"
#include "tests/support/keys.h"
#include "tests/support/require_ok.h"

/* ---- Mail ----------------------------------------------------------------------------------- */

enum { MAX_MAIL = 4096, MAX_BYTES = 1 << 20 };

/* Messages in the order sent. */
typedef struct mail {
    uint8_t bytes[MAX_BYTES];
    size_t used, at[MAX_MAIL + 1], n;
    size_t max; /* messages taken before one is refused; 0: all */
} mail;

static mail box;

static bool take(void *ctx, const void *bytes, size_t size) {
    mail *to = ctx;
    if (to->max && to->n == to->max) return false;
    if (to->n == MAX_MAIL || to->used + size > sizeof to->bytes) abort();
    memcpy(to->bytes + to->used, bytes, size);
    to->at[to->n++] = to->used;
    to->used += size;
    to->at[to->n] = to->used;
    return true;
}

static void empty_box(void) {
    box.used = box.n = box.max = 0;
    box.at[0] = 0;
}

static struct tamis_announced announce(tamis *f, struct tamis_announce_options o) {
    struct tamis_announced a = TAMIS_ANNOUNCED_INIT;
    o.struct_size = sizeof o;
    REQUIRE_OK(tamis_announce(f, &o, &a, take, &box));
    return a;
}
#define ANNOUNCE(f, ...) announce(f, (struct tamis_announce_options){.struct_size = 0, __VA_ARGS__})

static struct tamis_receive_info receive(tamis **copy, size_t i) {
    struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
    const size_t size = box.at[i + 1] - box.at[i];
    assert_int_equal(tamis_message_size(box.bytes + box.at[i], box.used - box.at[i]), size);
    REQUIRE_OK(tamis_receive(copy, box.bytes + box.at[i], size, NULL, &h));
    return h;
}

static struct tamis_receive_info receive_all(tamis **copy) {
    struct tamis_receive_info h = {0};
    for (size_t i = 0; i < box.n; i++) h = receive(copy, i);
    return h;
}

/* ---- Filters -------------------------------------------------------------------------------- */

static const char *const specs[] = {
    "counting:capacity=500,bits=48000,hashes=4,log=yes",
    "counting:capacity=500,bits=30006,hashes=4,log=yes,hash=xxh64,seed=987654321987",
    "icp:capacity=500,bits=48000",
    "icp:capacity=500,bits=30006,hashes=6,function_bits=29",
};
enum { SPECS = sizeof specs / sizeof *specs };

static void add_url(tamis *f, uint64_t i) {
    char url[64];
    const int len = snprintf(url, sizeof url, "http://host%d.example/%llu", (int)(i % 7),
                             (unsigned long long)i);
    REQUIRE_OK(tamis_add(f, url, (size_t)len));
}

static void remove_url(tamis *f, uint64_t i) {
    char url[64];
    const int len = snprintf(url, sizeof url, "http://host%d.example/%llu", (int)(i % 7),
                             (unsigned long long)i);
    REQUIRE_OK(tamis_remove(f, url, (size_t)len));
}

static bool has_url(const tamis *f, uint64_t i) {
    char url[64];
    const int len = snprintf(url, sizeof url, "http://host%d.example/%llu", (int)(i % 7),
                             (unsigned long long)i);
    return tamis_has(f, url, (size_t)len);
}

/* Bits in which the copy differs from the sender's summary. */
static uint64_t differences(const tamis *f, const tamis *copy) {
    const tamis_logged at = f->kind->special->log->arrays(&f->image.body);
    uint64_t different = 0;
    assert_int_equal(copy->image.body.word[0], at.n);
    for (uint64_t i = 0; i < at.n; i++)
        different += tamis__bit_get(f->image.body.bytes, at.summary + i) !=
                     tamis__bit_get(copy->image.body.bytes, i);
    return different;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void is_message(size_t i, const char *hex) {
    char text[4 * 256] = "";
    for (size_t at = box.at[i]; at < box.at[i + 1] && strlen(text) + 3 < sizeof text; at++)
        snprintf(text + strlen(text), 3, "%02x", box.bytes[at]);
    assert_string_equal(text, hex);
}

/* By hand: the MD5 of http://a/ is d2e30d02 3bacb136 55cf2f69 855ddd49, whose words modulo 64 are
 * 2, 36, 29 and 9 in hex; that of http://b/ 9e43e330 8c79a0a7 c0f21d11 cc0c9c70: 30, 27, 11 and
 * 30. */
static void icp_bytes_are_pinned(void **state) {
    (void)state;
    tamis *f = test_make("icp:capacity=4,bits=384");
    empty_box();
    REQUIRE_OK(tamis_add(f, "http://a/", 9));
    ANNOUNCE(f, .only_changes = true, .sender = 0xc0a80001);
    REQUIRE_OK(tamis_remove(f, "http://a/", 9));
    REQUIRE_OK(tamis_add(f, "http://b/", 9));
    ANNOUNCE(f, .only_changes = true);
    ANNOUNCE(f, .is_whole = true);
    ANNOUNCE(f, .only_changes = true);
    assert_int_equal(box.n, 4);
    is_message(0, "14020030000000010000000000000000c0a800010004002000000040000000048000000280000009"
                  "8000002980000036");
    is_message(1, "1402003c000000020000000000000000000000000004002000000040000000070000000200000009"
                  "8000001180000027000000298000003000000036");
    is_message(2,
               "14020028000000030800000000000000000000000004002000000040000000020002000000010080");
    is_message(3, "1402002000000004000000000000000000000000000400200000004000000000");
    tamis_free(f);
}

static void compact_bytes_are_pinned(void **state) {
    (void)state;
    tamis *f = test_make("counting:capacity=4,bits=12000,hashes=4,log=yes,seed=300");
    empty_box();
    REQUIRE_OK(tamis_add(f, "http://a/", 9));
    ANNOUNCE(f, .only_changes = true);
    REQUIRE_OK(tamis_remove(f, "http://a/", 9));
    REQUIRE_OK(tamis_add(f, "http://b/", 9));
    ANNOUNCE(f, .only_changes = true);
    tamis_free(f);
    f = test_make("counting:capacity=4,bits=420,hashes=4,log=yes");
    REQUIRE_OK(tamis_add(f, "http://a/", 9));
    ANNOUNCE(f, .is_whole = true);
    ANNOUNCE(f, .only_changes = true);
    assert_int_equal(box.n, 4);
    is_message(0, "d353430121000001010000000400000004ac02d00f00bd11d30555a905ffdc2d3f");
    is_message(1,
               "d353430128000001020000000800000004ac02d00f0089028107c90766c7018a0454a805ba729a1a");
    is_message(2, "d353430124000101010000000300000004004600000c000000100002000000004dfb2400");
    is_message(3, "d353430118000001020000000000000004004600a483f99b");
    tamis_free(f);
}

/* ---- Copies equal what was announced -------------------------------------------------------- */

/* Documents come and go; after each announcement the copy has the sender's bits, however the
 * messages were split, and answers as the sender does. */
static void copies_follow(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 64, 100, 1400};
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = test_make("%s", specs[s]), *copy = NULL;
        uint64_t first = 0, last = 0, whole = 0;
        for (uint64_t round = 0; round < 60; round++) {
            const uint64_t in = test_number(1, round) % 40, out = test_number(2, round) % 40;
            for (uint64_t i = 0; i < in; i++) add_url(f, last++);
            for (uint64_t i = 0; i < out && first < last; i++) remove_url(f, first++);
            empty_box();
            const struct tamis_announced a =
                ANNOUNCE(f, .message_bytes = sizes[round % 4], .is_whole = round % 16 == 15);
            assert_int_equal(a.messages, box.n);
            assert_int_equal(a.bytes, box.used);
            for (size_t i = 0; i < box.n; i++)
                assert_true(box.at[i + 1] - box.at[i] <=
                            (sizes[round % 4] ? sizes[round % 4] : 65507));
            const struct tamis_receive_info h = receive_all(&copy);
            assert_int_equal(h.missing, 0);
            assert_int_equal(h.sequence, a.sequence);
            assert_int_equal(differences(f, copy), 0);
            whole += a.is_whole;
            assert_false(tamis_is_due(f, 0));
        }
        for (uint64_t i = 0; i < last + 1000; i++)
            assert_int_equal(has_url(f, i), has_url(copy, i));
        assert_true(whole >= 4 && whole < 60);
        tamis_free(f);
        tamis_free(copy);
    }
}

/* Many changes are sent as an array, few as changes, whichever takes fewer bytes. */
static void the_cheaper_is_sent(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        uint64_t were_whole = 0;
        for (uint64_t n = 1; n <= 1024; n *= 2) {
            tamis *f = test_make("%s", specs[s]);
            empty_box();
            ANNOUNCE(f, .message_bytes = 0);
            for (uint64_t i = 0; i < n; i++) add_url(f, i);
            tamis *g = test_copy(f), *h = test_copy(f);
            const struct tamis_announced best = ANNOUNCE(f, .message_bytes = 0),
                                         array = ANNOUNCE(g, .is_whole = true),
                                         changes = ANNOUNCE(h, .only_changes = true);
            assert_true(best.is_whole == (array.bytes < changes.bytes));
            assert_int_equal(best.bytes, best.is_whole ? array.bytes : changes.bytes);
            were_whole += best.is_whole;
            tamis_free(f);
            tamis_free(g);
            tamis_free(h);
        }
        assert_true(were_whole > 0 && were_whole < 11);
    }
}

static void nothing_is_a_sign_of_life(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = test_make("%s", specs[s]), *copy = NULL;
        empty_box();
        assert_false(tamis_is_due(f, 0));
        assert_true(ANNOUNCE(f, .message_bytes = 0).is_whole);
        const struct tamis_announced a = ANNOUNCE(f, .message_bytes = 0);
        assert_int_equal(a.messages, 1);
        assert_int_equal(a.changes, 0);
        assert_true(a.bytes <= 64);
        const struct tamis_receive_info h = receive_all(&copy);
        assert_int_equal(h.sequence, 2);
        assert_int_equal(h.told, 0);
        tamis_free(f);
        tamis_free(copy);
    }
}

/* ---- In transit ----------------------------------------------------------------------------- */

/* One full announcement, then twelve of changes; box has one message for each. */
static tamis *thirteen_messages(size_t s) {
    tamis *f = test_make("%s", specs[s]);
    empty_box();
    ANNOUNCE(f, .is_whole = true);
    for (uint64_t i = 0; i < 12; i++) {
        add_url(f, i);
        if (i > 2) remove_url(f, i - 3);
        ANNOUNCE(f, .only_changes = true);
    }
    assert_int_equal(box.n, 13);
    return f;
}

static void duplicates_do_nothing(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = thirteen_messages(s), *copy = NULL;
        for (size_t i = 0; i < box.n; i++) {
            assert_false(receive(&copy, i).is_late);
            const struct tamis_receive_info again = receive(&copy, i);
            assert_int_equal(again.is_late, i > 0); /* a full one is never late */
            assert_int_equal(again.missing, 0);
        }
        assert_int_equal(differences(f, copy), 0);
        tamis_free(f);
        tamis_free(copy);
    }
}

/* A lost message leaves wrong only what no later one repeats; the copy reports how many are
 * missing, until a full one arrives. */
static void losses_are_counted_and_heal(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = thirteen_messages(s), *copy = NULL;
        uint64_t told = 0;
        struct tamis_receive_info h = {0};
        for (size_t i = 0; i < box.n; i++)
            if (i == 5 || i == 11 || i == 10) {
                tamis *other = NULL;
                told += receive(&other, i).told;
                tamis_free(other);
            } else {
                h = receive(&copy, i);
            }
        assert_int_equal(h.missing, 3);
        assert_int_equal(h.sequence, 13);
        assert_true(differences(f, copy) > 0 && differences(f, copy) <= told);
        struct tamis_receive_info kept = TAMIS_RECEIVE_INFO_INIT;
        assert_true(tamis_was_received(copy, &kept));
        assert_int_equal(kept.missing, 3);
        ANNOUNCE(f, .is_whole = true);
        h = receive(&copy, 13);
        assert_int_equal(h.missing, 0);
        assert_true(h.is_whole);
        assert_int_equal(differences(f, copy), 0);
        tamis_free(f);
        tamis_free(copy);
    }
}

static void what_is_overtaken_is_left_out(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = thirteen_messages(s), *copy = NULL;
        for (size_t i = 0; i < 4; i++) receive(&copy, i);
        assert_int_equal(receive(&copy, 6).missing, 2);
        const struct tamis_receive_info late = receive(&copy, 5);
        assert_true(late.is_late);
        assert_int_equal(late.told, 0);
        assert_int_equal(late.sequence, 7);
        assert_int_equal(late.missing, 2);
        tamis_free(f);
        tamis_free(copy);
    }
}

/* A cache that lost its memory restarts at number 1 with a full announcement, and its peers accept
 * it. */
static void a_restarted_cache_is_accepted(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = thirteen_messages(s), *copy = NULL, *again = test_make("%s", specs[s]);
        receive_all(&copy);
        add_url(again, 777);
        empty_box();
        assert_int_equal(ANNOUNCE(again, .message_bytes = 0).sequence, 1);
        assert_int_equal(receive_all(&copy).missing, 0);
        assert_int_equal(differences(again, copy), 0);
        tamis_free(f);
        tamis_free(again);
        tamis_free(copy);
    }
}

static void another_size_starts_over(void **state) {
    (void)state;
    tamis *f = thirteen_messages(0), *copy = NULL, *g = test_make("%s", specs[3]);
    receive_all(&copy);
    empty_box();
    add_url(g, 5);
    ANNOUNCE(g, .message_bytes = 0);
    assert_true(receive(&copy, 0).is_new);
    assert_int_equal(differences(g, copy), 0);
    tamis_free(f);
    tamis_free(g);
    tamis_free(copy);
}

/* Numbers wrap around, skipping 0. */
static void numbers_go_round(void **state) {
    (void)state;
    tamis *f = test_make("%s", specs[0]), *copy = NULL;
    empty_box();
    REQUIRE_OK(tamis_set_note(f, "announced", "4294967293"));
    ANNOUNCE(f, .is_whole = true);
    for (uint64_t i = 0; i < 4; i++) {
        add_url(f, i);
        ANNOUNCE(f, .message_bytes = 0);
        const struct tamis_receive_info h = receive_all(&copy);
        assert_int_equal(h.missing, 0);
        empty_box();
    }
    struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
    assert_true(tamis_was_received(copy, &h));
    assert_int_equal(h.sequence, 3);
    assert_int_equal(differences(f, copy), 0);
    tamis_free(f);
    tamis_free(copy);
}

/* A refused message is not lost: its changes are sent again, under another number. */
static void refused_changes_are_sent_again(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = test_make("%s", specs[s]), *copy = NULL;
        empty_box();
        ANNOUNCE(f, .message_bytes = 0);
        for (uint64_t i = 0; i < 40; i++) add_url(f, i);
        box.max = box.n + 2;
        const struct tamis_announce_options o = {.struct_size = sizeof o, .message_bytes = 64};
        assert_int_equal(tamis_announce(f, &o, NULL, take, &box), TAMIS_CANCELLED);
        box.max = 0;
        assert_true(tamis_is_due(f, 0));
        ANNOUNCE(f, .message_bytes = 0);
        receive_all(&copy);
        assert_int_equal(differences(f, copy), 0);
        tamis_free(f);
        tamis_free(copy);
    }
}

/* ---- Hostile messages ----------------------------------------------------------------------- */

/* Refused with a message, and nothing changed; or accepted, with no bit out of place. */
static bool is_refused(tamis **copy, const uint8_t *bytes, size_t size) {
    const struct tamis_options o = {.struct_size = sizeof o, .max_bytes = 1 << 20};
    tamis *before = test_copy(*copy);
    const tamis_status rc = tamis_receive(copy, bytes, size, &o, NULL);
    if (rc) {
        assert_true(strlen(tamis_why()) > 10);
        assert_true(rc == TAMIS_CORRUPT || rc == TAMIS_TOO_LARGE);
        const size_t image = (size_t)tamis_image_size(before);
        size_t a_size, b_size;
        uint8_t *a = test_image(before, &a_size), *b = test_image(*copy, &b_size);
        assert_int_equal(a_size, b_size);
        assert_memory_equal(a, b, image);
        free(a);
        free(b);
    } else {
        assert_null((*copy)->kind->audit((&(*copy)->image.body)) ? "bits out of place" : NULL);
    }
    tamis_free(before);
    return rc;
}

/* Exactly as large as the message, so that a sanitizer sees any overrun. */
static uint8_t *only(size_t i, size_t size) {
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) abort();
    memcpy(bytes, box.bytes + box.at[i], size);
    return bytes;
}

static void damage_is_refused(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        tamis *f = thirteen_messages(s), *copy = NULL;
        ANNOUNCE(f, .is_whole = true, .message_bytes = 200);
        receive_all(&copy);
        for (size_t i = 12; i < 15; i++) {
            const size_t size = box.at[i + 1] - box.at[i];
            for (size_t cut = 0; cut < size; cut++) {
                uint8_t *bytes = only(i, cut);
                assert_true(is_refused(&copy, bytes, cut));
                assert_int_equal(tamis_message_size(bytes, cut), 0);
                free(bytes);
            }
            uint8_t *bytes = only(i, size + 1);
            assert_true(is_refused(&copy, bytes, size + 1));
            free(bytes);
            bytes = only(i, size);
            for (size_t bit = 0; bit < 8 * size; bit++) {
                bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
                if (!is_refused(&copy, bytes, size)) assert_true(s >= 2); /* ICP has no checksum */
                bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            free(bytes);
        }
        tamis_free(f);
        tamis_free(copy);
    }
}

static void put_big(uint8_t *p, unsigned n, uint64_t x) {
    for (unsigned i = n; i-- > 0; x >>= 8) p[i] = (uint8_t)x;
}

/* Headers that claim more than there is, each alone, with the error that names it. */
static void large_numbers_are_refused(void **state) {
    (void)state;
    static const struct {
        size_t at;
        unsigned n;
        uint64_t value;
        const char *why;
    } wrong[] = {
        {1, 1, 3, "version"},
        {2, 2, 65535, "65535 bytes"},
        {2, 2, 31, "31 bytes"},
        {8, 4, 0x80000000, "options of ICP"},
        {20, 2, 0, "Function_Num"},
        {20, 2, 17, "Function_Num"},
        {22, 2, 7, "Function_Bits"},
        {22, 2, 33, "Function_Bits"},
        {22, 2, 65535, "Function_Bits"},
        {24, 4, 0, "BitArray_Size_InBits"},
        {24, 4, 0xffffffff, "BitArray_Size_InBits"},
        {24, 4, 0x80000000, "would be too large"},
        {28, 4, 0xffffffff, "Number_of_Updates"},
        {28, 4, 0, "Number_of_Updates"},
        {32, 4, 0xffffffff, "record 0 is about bit 2147483647"},
    };
    tamis *f = thirteen_messages(2), *copy = NULL;
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const struct tamis_options o = {.struct_size = sizeof o, .allocator = &allocator};
    const size_t size = box.at[13] - box.at[12];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t *bytes = only(12, size);
        put_big(bytes + wrong[i].at, wrong[i].n, wrong[i].value);
        const tamis_status rc = tamis_receive(&copy, bytes, size, &o, NULL);
        if (!rc) fail_msg("%s: taken", wrong[i].why);
        if (rc == TAMIS_TOO_LARGE)
            assert_string_equal(wrong[i].why, "would be too large");
        else if (!strstr(tamis_why(), wrong[i].why))
            fail_msg("not about %s: %s", wrong[i].why, tamis_why());
        assert_null(copy);
        assert_int_equal(failing.bytes, 0);
        assert_true(failing.max_bytes < 4096);
        free(bytes);
    }
    tamis_free(f);
}

/* Compact messages with a valid checksum and invalid contents. `body` follows the 17 bytes. */
static const char *compact_is_refused(uint8_t what, uint8_t hash, uint32_t count, uint8_t hashes,
                                      const void *body, size_t body_size) {
    static const uint8_t magic[] = {0xd3, 0x53, 0x43, 0x01};
    uint8_t bytes[256] = {0};
    tamis *copy = NULL;
    const size_t size = 17 + body_size + 4;
    memcpy(bytes, magic, 4);
    tamis__put16(bytes + 4, (uint16_t)size);
    bytes[6] = what;
    bytes[7] = hash;
    tamis__put32(bytes + 8, 1);
    tamis__put32(bytes + 12, count);
    bytes[16] = hashes;
    memcpy(bytes + 17, body, body_size);
    tamis__put32(bytes + size - 4, (uint32_t)tamis__checksum(bytes, size - 4, NULL, 0));
    const tamis_status rc = tamis_receive(&copy, bytes, size, NULL, NULL);
    tamis_free(copy);
    return rc ? tamis_why() : "taken";
}
#define REFUSED(why, what, hash, count, hashes, body)                                             \
    do {                                                                                          \
        const char *said_ = compact_is_refused(what, hash, count, hashes, body, sizeof body - 1); \
        if (!strstr(said_, why)) fail_msg("not \"%s\": %s", why, said_);                          \
    } while (0)

static void compact_contents_are_checked(void **state) {
    (void)state;
    REFUSED("taken", 0, 1, 2, 4, "\x00\x64\x00\x03\xc2\x01"); /* bits 1 and 99 of 100 */
    REFUSED("record 1 of 2", 0, 1, 2, 4, "\x00\x64\x00\x03\xc4\x01");
    REFUSED("record 2 of 3", 0, 1, 3, 4, "\x00\x64\x00\x03\xc2\x01\x00");
    REFUSED("record 2 of 3", 0, 1, 3, 4, "\x00\x64\x00\x03\xc2\x01");
    REFUSED("record 0 of 4294967295", 0, 1, 0xffffffff, 4, "\x00\x64\x00");
    REFUSED("2 records have 3 bytes, not 4", 0, 1, 2, 4, "\x00\x64\x00\x03\xc2\x01\x00");
    REFUSED("record 0 of 1", 0, 1, 1, 4, "\x00\x64\x00\x83\x00"); /* longer than needed */
    REFUSED("record 0 of 1", 0, 1, 1, 4, "\x00\x64\x00\x83");
    REFUSED("record 0 of 1", 0, 1, 1, 4, "\x00\x64\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    REFUSED("first bit of the message is invalid", 0, 1, 1, 4,
            "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x64\x00");
    REFUSED("first bit of the message is invalid", 0, 1, 1, 4, "\x00\x64\x80");
    REFUSED("changes (0) or an array (1), not 2", 2, 1, 0, 4, "\x00\x64\x00");
    REFUSED("the hash of a summary is 1 or 2, not 3", 0, 3, 0, 4, "\x00\x64\x00");
    REFUSED("the hash of a summary is 1 or 2, not 0", 0, 0, 0, 4, "\x00\x64\x00");
    REFUSED("1 to 64 hashes, not 0", 0, 1, 0, 0, "\x00\x64\x00");
    REFUSED("1 to 64 hashes, not 65", 0, 1, 0, 65, "\x00\x64\x00");
    REFUSED("1 to 2^48 bits, not 0", 0, 1, 0, 4, "\x00\x00\x00");
    REFUSED("1 to 2^48 bits", 0, 1, 0, 4, "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00");
    REFUSED("limit", 0, 1, 0, 4, "\x00\x80\x80\x80\x80\x80\x80\x40\x00"); /* 2^48 */
    REFUSED("changes start at bit 0", 0, 1, 0, 4, "\x00\x64\x20");
    REFUSED("taken", 1, 1, 1, 4, "\x00\x64\x60\x0f\x00\x00\x00"); /* the last 4 of 100 */
    REFUSED("past the last of 100", 1, 1, 1, 4, "\x00\x64\x60\x1f\x00\x00\x00");
    REFUSED("from bit 97 on", 1, 1, 1, 4, "\x00\x64\x61\x0f\x00\x00\x00");
    REFUSED("from bit 128 on", 1, 1, 1, 4, "\x00\x64\x80\x01\x0f\x00\x00\x00");
    REFUSED("2 words", 1, 1, 2, 4, "\x00\x64\x60\x0f\x00\x00\x00\x00\x00\x00\x00");
    REFUSED("1 words of an array do not fit in 3 bytes", 1, 1, 1, 4, "\x00\x64\x60\x0f\x00\x00");
}

static void other_bytes_are_no_messages(void **state) {
    (void)state;
    tamis *copy = NULL;
    assert_int_equal(tamis_receive(&copy, "", 0, NULL, NULL), TAMIS_CORRUPT);
    assert_int_equal(tamis_receive(&copy, "hello", 5, NULL, NULL), TAMIS_CORRUPT);
    assert_int_equal(tamis_receive(&copy, "\x14\x02", 2, NULL, NULL), TAMIS_CORRUPT);
    assert_null(copy);
    assert_int_equal(tamis_message_size("\xd3\x53\x43\x01", 4), 0);
}

static void limits_of_announcing(void **state) {
    (void)state;
    static const char *const cannot[] = {"blocked:capacity=100", "counting:capacity=100",
                                         "counting:capacity=100,log=yes,hash=sip13",
                                         "icp:capacity=100,copy=yes"};
    struct tamis_staleness s = TAMIS_STALENESS_INIT;
    for (size_t i = 0; i < 4; i++) {
        tamis *f = test_make("%s", cannot[i]);
        assert_int_equal(tamis_announce(f, NULL, NULL, take, &box), TAMIS_UNSUPPORTED);
        assert_false(tamis_is_due(f, 0));
        if (i != 2) assert_int_equal(tamis_get_staleness(f, &s), TAMIS_UNSUPPORTED);
        tamis_free(f);
    }
    tamis *f = test_make("%s", specs[2]);
    struct tamis_announce_options o = {.struct_size = sizeof o, .message_bytes = 63};
    assert_int_equal(tamis_announce(f, &o, NULL, take, &box), TAMIS_INVALID);
    o.message_bytes = 16385;
    assert_int_equal(tamis_announce(f, &o, NULL, take, &box), TAMIS_INVALID);
    assert_non_null(strstr(tamis_why(), "64 to 16384"));
    o = (struct tamis_announce_options){sizeof o, 0, 0, true, true};
    assert_int_equal(tamis_announce(f, &o, NULL, take, &box), TAMIS_INVALID);
    tamis_free(f);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void no_memory_changes_nothing(void **state) {
    (void)state;
    test_failing_allocator failing = {0};
    const struct tamis_allocator allocator = test_allocator(&failing);
    const struct tamis_options o = {.struct_size = sizeof o, .allocator = &allocator};
    for (size_t s = 0; s < SPECS; s += 2) {
        tamis *f = thirteen_messages(s);
        for (long at = 1;; at++) {
            tamis_neighbours *t = NULL;
            struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
            size_t peer;
            failing = (test_failing_allocator){.fail_at = at};
            tamis_status rc = tamis_neighbours_create(&t, 8, &o);
            for (size_t i = 0; i < box.n && !rc; i++)
                rc = tamis_neighbours_receive(t, i % 2 ? "b" : "a", box.bytes + box.at[i],
                                              box.at[i + 1] - box.at[i], &h);
            const bool is_done = !rc && failing.calls < at;
            if (t) (void)tamis_neighbours_ask(t, "x", 1, &peer, 1);
            tamis_neighbours_free(t);
            assert_int_equal(failing.blocks, 0);
            if (is_done) break;
            if (rc) assert_int_equal(rc, TAMIS_NOMEM);
            assert_true(at < 1000);
        }
        tamis_free(f);
    }
}

/* ---- Staleness and false hits --------------------------------------------------------------- */

/* Unannounced documents, estimated from the bits: within five of the reported errors. */
static void unknown_documents_are_estimated(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s += 2)
        for (uint64_t n = 1; n <= 512; n *= 2) {
            tamis *f = test_make("%s", specs[s]);
            struct tamis_staleness stale = TAMIS_STALENESS_INIT;
            for (uint64_t i = 0; i < 500; i++) add_url(f, i);
            empty_box();
            ANNOUNCE(f, .message_bytes = 0);
            for (uint64_t i = 0; i < n; i++) add_url(f, 1000 + i);
            for (uint64_t i = 0; i < 100; i++) remove_url(f, i);
            REQUIRE_OK(tamis_get_staleness(f, &stale));
            assert_int_equal(stale.positions, 8000);
            assert_int_equal(stale.documents, 400 + n);
            assert_true(stale.cleared > 0);
            if (fabs(stale.unknown.value - (double)n) > 5 * stale.unknown.error + 0.5)
                fail_msg("%llu are %g +- %g", (unsigned long long)n, stale.unknown.value,
                         stale.unknown.error);
            assert_true(stale.unknown.error < 1 + 0.7 * sqrt((double)n));
            const double share = (double)n / (double)(400 + n);
            assert_true(tamis_is_due(f, share / 3));
            assert_false(tamis_is_due(f, share * 3));
            tamis_free(f);
        }
}

static void an_emptied_cache_is_due(void **state) {
    (void)state;
    tamis *f = test_make("%s", specs[0]);
    add_url(f, 1);
    empty_box();
    ANNOUNCE(f, .message_bytes = 0);
    remove_url(f, 1);
    assert_true(tamis_is_due(f, 0.1));
    tamis_free(f);
}

/* A copy says yes to non-members as the formula predicts, two-sided, and never no to what was
 * announced. */
static void false_hits_are_those_of_the_formula(void **state) {
    (void)state;
    for (size_t s = 0; s < SPECS; s++) {
        enum { NONMEMBERS = 200000, DOCUMENTS = 1000 };
        tamis *f = test_make("%s", specs[s]), *copy = NULL;
        uint64_t hits = 0;
        for (uint64_t i = 0; i < DOCUMENTS; i++) add_url(f, i);
        empty_box();
        ANNOUNCE(f, .message_bytes = 1400);
        receive_all(&copy);
        for (uint64_t i = 0; i < DOCUMENTS; i++) assert_true(has_url(copy, i));
        for (uint64_t i = 0; i < NONMEMBERS; i++) hits += has_url(copy, 1000000 + i);
        /* From the bits that are set: the formula for this filter, not for the average one. */
        uint64_t set = 0;
        const uint64_t m = copy->image.body.word[0], k = copy->image.body.word[1];
        for (uint64_t i = 0; i < m; i++) set += tamis__bit_get(copy->image.body.bytes, i);
        const double rate = pow((double)set / (double)m, (double)k);
        const double usual = tamis_rate_approx(DOCUMENTS, (double)m, (double)k);
        assert_true(rate > usual * 0.8 && rate < usual * 1.25);
        if (!test_is_possible(hits, NONMEMBERS, rate, TEST_ALPHA))
            fail_msg("%s: %llu of %d, expected %g", specs[s], (unsigned long long)hits, NONMEMBERS,
                     rate * NONMEMBERS);
        tamis_free(f);
        tamis_free(copy);
    }
}

/* ---- The table ------------------------------------------------------------------------------ */

static void table_knows_who_may_have_it(void **state) {
    (void)state;
    enum { PEERS = 6, EACH = 50 };
    tamis_neighbours *t;
    tamis *own[PEERS];
    REQUIRE_OK(tamis_neighbours_create(&t, PEERS, NULL));
    for (uint64_t p = 0; p < PEERS; p++) {
        const char name[] = {(char)('f' - (char)p), '\0'}; /* from the last to the first */
        own[p] = test_make("%s", specs[p % SPECS]);
        for (uint64_t i = 0; i < EACH; i++) add_url(own[p], p * EACH / 2 + i); /* half in common */
        empty_box();
        ANNOUNCE(own[p], .message_bytes = 0);
        for (size_t i = 0; i < box.n; i++)
            REQUIRE_OK(tamis_neighbours_receive(t, name, box.bytes + box.at[i],
                                                box.at[i + 1] - box.at[i], NULL));
    }
    for (uint64_t i = 0; i < PEERS * EACH; i++) {
        char url[64];
        size_t peers[PEERS], n = 0;
        const int len = snprintf(url, sizeof url, "http://host%d.example/%llu", (int)(i % 7),
                                 (unsigned long long)i);
        const size_t found = tamis_neighbours_ask(t, url, (size_t)len, peers, PEERS);
        for (size_t p = PEERS; p-- > 0;)
            if (tamis_has(own[p], url, (size_t)len)) assert_int_equal(peers[n++], PEERS - 1 - p);
        assert_int_equal(found, n);
        assert_int_equal(tamis_neighbours_ask(t, url, (size_t)len, NULL, 0), n);
    }
    const char *name;
    const tamis *copy;
    for (size_t i = 0; i < PEERS; i++) {
        assert_true(tamis_neighbours_at(t, i, &name, &copy));
        assert_int_equal(name[0], 'a' + (int)i);
    }
    assert_false(tamis_neighbours_at(t, PEERS, &name, &copy));
    assert_int_equal(tamis_neighbours_receive(t, "g", box.bytes, box.at[1], NULL), TAMIS_FULL);
    REQUIRE_OK(tamis_neighbours_forget(t, "c"));
    assert_int_equal(tamis_neighbours_forget(t, "c"), TAMIS_NOT_FOUND);
    REQUIRE_OK(tamis_neighbours_receive(t, "g", box.bytes, box.at[1], NULL));
    for (size_t i = 0; tamis_neighbours_at(t, i, &name, &copy); i++)
        assert_int_equal(name[0], "abdefg"[i]);
    for (size_t p = 0; p < PEERS; p++) tamis_free(own[p]);
    tamis_neighbours_free(t);
}

/* A saved copy comes back with all it knows. */
static void copies_come_back(void **state) {
    (void)state;
    tamis_neighbours *t;
    tamis *f = thirteen_messages(0), *copy = NULL, *loaded;
    const tamis *inside;
    const char *name;
    struct tamis_receive_info h = TAMIS_RECEIVE_INFO_INIT;
    size_t size, peer;
    receive(&copy, 0);
    receive(&copy, 2);
    uint8_t *image = test_image(copy, &size);
    REQUIRE_OK(tamis_load(&loaded, image, size));
    REQUIRE_OK(tamis_neighbours_create(&t, 2, NULL));
    REQUIRE_OK(tamis_neighbours_put(t, "old", loaded));
    REQUIRE_OK(tamis_neighbours_put(t, "old", copy));
    REQUIRE_OK(
        tamis_neighbours_receive(t, "old", box.bytes + box.at[3], box.at[4] - box.at[3], &h));
    assert_int_equal(h.missing, 1);
    assert_false(h.is_new);
    assert_true(tamis_neighbours_at(t, 0, &name, &inside));
    assert_string_equal(name, "old");
    assert_int_equal(tamis_neighbours_ask(t, "http://host2.example/2", 22, &peer, 1), 1);
    assert_int_equal(tamis_neighbours_put(t, "own", f), TAMIS_MISMATCH);
    assert_int_equal(tamis_neighbours_put(t, "", f), TAMIS_INVALID);
    tamis_neighbours_free(t);
    assert_int_equal(tamis_neighbours_create(&t, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_neighbours_create(&t, 4097, NULL), TAMIS_INVALID);
    assert_null(t);
    tamis_neighbours_free(NULL);
    free(image);
    tamis_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(icp_bytes_are_pinned),
        cmocka_unit_test(compact_bytes_are_pinned),
        cmocka_unit_test(copies_follow),
        cmocka_unit_test(the_cheaper_is_sent),
        cmocka_unit_test(nothing_is_a_sign_of_life),
        cmocka_unit_test(duplicates_do_nothing),
        cmocka_unit_test(losses_are_counted_and_heal),
        cmocka_unit_test(what_is_overtaken_is_left_out),
        cmocka_unit_test(a_restarted_cache_is_accepted),
        cmocka_unit_test(another_size_starts_over),
        cmocka_unit_test(numbers_go_round),
        cmocka_unit_test(refused_changes_are_sent_again),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(large_numbers_are_refused),
        cmocka_unit_test(compact_contents_are_checked),
        cmocka_unit_test(other_bytes_are_no_messages),
        cmocka_unit_test(limits_of_announcing),
        cmocka_unit_test(no_memory_changes_nothing),
        cmocka_unit_test(unknown_documents_are_estimated),
        cmocka_unit_test(an_emptied_cache_is_due),
        cmocka_unit_test(false_hits_are_those_of_the_formula),
        cmocka_unit_test(table_knows_who_may_have_it),
        cmocka_unit_test(copies_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
