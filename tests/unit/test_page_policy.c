/* SPDX-License-Identifier: MIT */
/* Pages: what is refused, what the name tells, and which pages a policy reads that others made.
 * That each kind answers as ever from a page is a law. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_pages.h"
#include "tests/support/bounds.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { ROOM = 1 << 16, MANY = 1000 };

typedef struct page {
    uint8_t bytes[ROOM];
    size_t size, pieces, max_pieces;
} page;

static bool take(void *ctx, const void *bytes, size_t size) {
    page *p = ctx;
    if (p->pieces++ == p->max_pieces) return false;
    assert_true(size <= ROOM - p->size);
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
    return true;
}

static tamis_page_policy *policy_of(const char *spec, const struct tamis_options *options) {
    tamis_page_policy *policy;
    if (tamis_page_policy_create(&policy, spec, options)) fail_msg("%s: %s", spec, tamis_why());
    return policy;
}

static uint64_t number[2 * MANY];
static struct tamis_key key[2 * MANY];

static int make_keys(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(key); i++) {
        number[i] = i;
        key[i] = (struct tamis_key){&number[i], sizeof number[i]};
    }
    return 0;
}

static void make_page(const tamis_page_policy *policy, size_t n, page *p) {
    *p = (page){.max_pieces = SIZE_MAX};
    if (tamis_page_make(policy, key, n, take, p)) fail_msg("%s", tamis_why());
}

static size_t found(const tamis_page_policy *policy, const page *p, size_t from, size_t to) {
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += tamis_page_has(policy, p->bytes, p->size, key[i].bytes, key[i].len);
    return n;
}

static void names_tell_kind_and_hash(void **state) {
    (void)state;
    static const uint8_t secret[16] = "sixteen letters";
    const struct tamis_options options = {.struct_size = sizeof options, .secret = secret};
    static const char *const names[][2] = {
        {"split:fpr=1%", "tamis-1.split"},
        {"split:fpr=0.1%", "tamis-1.split"},
        {"fpr=1%", "tamis-1.blocked"},
        {"ribbon:seed=255", "tamis-1.ribbon.xxh3.ff"},
        {"blocked:hash=mix8", "tamis-1.blocked.mix8.0"},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        tamis_page_policy *policy = policy_of(names[i][0], NULL);
        assert_string_equal(tamis_page_policy_name(policy), names[i][1]);
        tamis_page_policy_free(policy);
    }
    tamis_page_policy *policy = policy_of("split:hash=sip13,key=outside", &options);
    assert_memory_equal(tamis_page_policy_name(policy), "tamis-1.split.sip13.", 20);
    assert_null(strstr(tamis_page_policy_name(policy), "letters"));
    tamis_page_policy_free(policy);
}

static void some_have_no_pages(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        tamis_status rc;
        const char *why;
    } refused[] = {
        {"split:capacity=100", TAMIS_INVALID, "no capacity"},
        {"guava", TAMIS_UNSUPPORTED, "its own way"},
        {"minhash", TAMIS_UNSUPPORTED, "answers no queries"},
        {"split:hash=sip13,key=outside", TAMIS_SECRET, "no secret"},
        {"split:hash=sip13", TAMIS_SECRET, "no secret"},
        {"split:fpr=7", TAMIS_INVALID, "fpr"},
        {"splti", TAMIS_INVALID, "split"},
        {"split:bits=10000000", TAMIS_TOO_LARGE, "1000"},
    };
    const struct tamis_options options = {.struct_size = sizeof options, .max_bytes = 1000};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        tamis_page_policy *policy = (tamis_page_policy *)&policy;
        const tamis_status rc = tamis_page_policy_create(&policy, refused[i].spec, &options);
        if (rc != refused[i].rc || policy || !strstr(tamis_why(), refused[i].why))
            fail_msg("%s: %d, %s", refused[i].spec, rc, tamis_why());
    }
}

static void every_size_keeps_its_keys(void **state) {
    (void)state;
    static const char *const specs[] = {"split", "blocked:fpr=0.1%", "ribbon",
                                        "fuse",  "classic",          "split:seed=9"};
    static page p;
    for (size_t s = 0; s < COUNT_OF(specs); s++) {
        tamis_page_policy *policy = policy_of(specs[s], NULL);
        for (size_t n = 0; n <= MANY; n += n < 20 ? 1 : 245) {
            make_page(policy, n, &p);
            assert_int_equal(found(policy, &p, 0, n), n);
            if (n == 0) assert_int_equal(found(policy, &p, 0, MANY), 0);
        }
        tamis_page_policy_free(policy);
    }
}

/* Kind and hash are the name; the rest is in the page. */
static void a_policy_reads_pages_of_another_rate(void **state) {
    (void)state;
    static page p;
    tamis_page_policy *strict = policy_of("classic:fpr=0.1%", NULL),
                      *loose = policy_of("classic:fpr=20%", NULL);
    make_page(loose, MANY, &p);
    assert_int_equal(found(strict, &p, 0, MANY), MANY);
    const size_t hits = found(strict, &p, MANY, 2 * MANY);
    assert_true(test_is_possible(hits, MANY, 0.2, TEST_ALPHA));
    assert_int_equal(hits, found(loose, &p, MANY, 2 * MANY));
    tamis_page_policy_free(strict);
    tamis_page_policy_free(loose);
}

/* Each piece that the host does not take is told, and no page is left behind. */
static void refused_bytes_are_told(void **state) {
    (void)state;
    static page p;
    tamis_page_policy *policy = policy_of("ribbon", NULL);
    make_page(policy, MANY, &p);
    const size_t pieces = p.pieces;
    assert_true(pieces > 0);
    for (size_t i = 0; i < pieces; i++) {
        p = (page){.max_pieces = i};
        assert_int_equal(tamis_page_make(policy, key, MANY, take, &p), TAMIS_IO);
        assert_non_null(strstr(tamis_why(), "refused"));
    }
    tamis_page_policy_free(policy);
}

static void what_is_no_page_is_maybe(void **state) {
    (void)state;
    static const char *const none[] = {"",         "\x01",         "\xff",           "\x01\x01",
                                       "\xff\x01", "\x80\x80\x02", "text of no page"};
    tamis_page_policy *policy = policy_of("split", NULL);
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        const size_t size = strlen(none[i]);
        uint8_t *copy = malloc(size ? size : 1); /* memory checkers know its end */
        memcpy(copy, none[i], size);
        assert_true(tamis_page_has(policy, copy, size, "x", 1));
        free(copy);
    }
    tamis_page_policy_free(policy);
    tamis_page_policy_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell_kind_and_hash),
        cmocka_unit_test(some_have_no_pages),
        cmocka_unit_test(every_size_keeps_its_keys),
        cmocka_unit_test(a_policy_reads_pages_of_another_rate),
        cmocka_unit_test(refused_bytes_are_told),
        cmocka_unit_test(what_is_no_page_is_maybe),
    };
    return cmocka_run_group_tests_name("page policy", tests, make_keys, NULL);
}
