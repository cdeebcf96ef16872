/* SPDX-License-Identifier: MIT */
/* Forms of which a question asks for several keys: blocks of addresses, parents of names, prefixes
 * of URLs; against slow and obvious versions of the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/keys/addresses.h"
#include "cli/keys/expand.h"
#include "cli/keys/steps.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t any(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static const struct classes all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX}};

static bool form_of(const char *step, const char *text, char *room, struct tamis_key *key) {
    struct canon canon;
    char why[256];
    assert_true(canon_parse(&canon, step, why, sizeof why));
    *key = (struct tamis_key){text, strlen(text)};
    return !canon_apply(&canon, key, room);
}

/* ---- Addresses ---- */

/* As the system reads them, whatever the text. */
static void addresses_of_any_text(void **unused) {
    (void)unused;
    static const char *const letters[] = {"0123456789.", "0123456789abcdefF::..", "01:::"};
    int read = 0;
    for (int trial = 0; trial < 400000; trial++) {
        char text[48];
        uint8_t ours[16] = {0}, system[16] = {0};
        const char *from = letters[any(3)];
        const size_t len = any(20);
        for (size_t i = 0; i < len; i++) text[i] = from[any(strlen(from))];
        text[len] = '\0';
        if (any(4) == 0)
            snprintf(text, sizeof text, "%d.%d.%d.%d", (int)any(300), (int)any(256), (int)any(256),
                     (int)any(256));
        const unsigned family = read_ip(text, text + strlen(text), ours);
        const bool is_4 = inet_pton(AF_INET, text, system) == 1;
        const bool is_6 = !is_4 && inet_pton(AF_INET6, text, system) == 1;
        const bool is_mapped = is_6 && memcmp(system, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) == 0;
        if (family != (is_4 || is_mapped ? 4U : is_6 ? 6U : 0U))
            fail_msg("'%s' is of family %u", text, family);
        if (family) assert_memory_equal(ours, system + (is_mapped ? 12 : 0), family == 4 ? 4 : 16);
        read += family > 0;
    }
    assert_true(read > 1000);
}

/* ---- Blocks ---- */

/* Blocks as text, with blanks between them. */
static void say_blocks(struct tamis_key rest, char *text, size_t size) {
    struct tamis_key block;
    size_t len = 0;
    while (next_listed(TO_BLOCKS, &rest, &block)) {
        const uint8_t *bytes = block.bytes;
        const struct tamis_key match = {bytes, bytes[1]};
        if (len > 0) text[len++] = ' ';
        len += match_text(TO_BLOCKS, &match, text + len, size - len - 1);
    }
    text[len] = '\0';
}

static void blocks_of_lines(void **unused) {
    (void)unused;
    static const struct {
        const char *line, *blocks; /* NULL: refused */
    } cases[] = {
        {"10.0.0.1", "10.0.0.1"},
        {" 10.0.0.1 ", "10.0.0.1"},
        {"10[.]0[.]0[.]1", "10.0.0.1"},
        {"10.0.0.0/8", "10.0.0.0/8"},
        {"10.1.2.3/8", "10.0.0.0/8"},
        {"10/8", "10.0.0.0/8"},
        {"192.168/16", "192.168.0.0/16"},
        {"192.168/17", NULL},
        {"10", NULL},
        {"10.0.0.0/0", "0.0.0.0/0"},
        {"10.0.0.0/32", "10.0.0.0"},
        {"10.0.0.0/33", NULL},
        {"10.0.0.0/", NULL},
        {"10.0.0.0/0x8", NULL},
        {"10.0.0.0/0008", NULL},
        {"10.0.0.0/8/8", NULL},
        {"10.1.2.3/255.255.255.0", "10.1.2.0/24"},
        {"10.1.2.3/255.0.255.0", NULL},
        {"10.1.2.3/0.0.0.0", "0.0.0.0/0"},
        {"10.0.0.5-10.0.0.5", "10.0.0.5"},
        {"10.0.0.0-10.0.0.255", "10.0.0.0/24"},
        {"10.0.0.5-77", "10.0.0.5 10.0.0.6/31 10.0.0.8/29 10.0.0.16/28 10.0.0.32/27 10.0.0.64/29 "
                        "10.0.0.72/30 10.0.0.76/31"},
        {"10.0.0.5 - 10.0.0.7", "10.0.0.5 10.0.0.6/31"},
        {"0.0.0.0-255.255.255.255", "0.0.0.0/0"},
        {"255.255.255.254-255.255.255.255", "255.255.255.254/31"},
        {"10.0.0.7-10.0.0.5", NULL},
        {"10.0.0.7-5", NULL},
        {"10.0.0.7-256", NULL},
        {"10.0.0.7-1.2", NULL},
        {"10.0.0.7-::1", NULL},
        {"10.0.0.0/8-11.0.0.0/8", NULL},
        {"-", NULL},
        {"/", NULL},
        {"2001:db8::/32", "2001:db8::/32"},
        {"2001:DB8::1", "2001:db8::1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"[2001:db8::]/32", "2001:db8::/32"},
        {"fe80::1%eth0", "fe80::1"},
        {"::/0", "::/0"},
        {"::/129", NULL},
        {"::1-::4", "::1 ::2/127 ::4"},
        {"::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/0"},
        {"::ffff:10.0.0.0/104", "10.0.0.0/8"},
        {"::ffff:10.0.0.0/20", NULL},
        {"::ffff:10.0.0.1", "10.0.0.1"},
        {"010.0.0.1", NULL},
        {"1.2.3.4:80", "1.2.3.4"},
        {"[2001:db8::1]:80", "2001:db8::1"},
        {"1.2.3.4:80/32", NULL},
        {"1.2.3.4:80-1.2.3.5:80", NULL},
        {"evil.com", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char room[2 * CANON_GROWTH], text[4096] = "";
        struct tamis_key key;
        const bool is_form = form_of("cidr", cases[i].line, room, &key);
        if (is_form) say_blocks(key, text, sizeof text);
        if (is_form != (cases[i].blocks != NULL) || (is_form && strcmp(text, cases[i].blocks) != 0))
            fail_msg("'%s' is '%s', not '%s'", cases[i].line, is_form ? text : "refused",
                     cases[i].blocks ? cases[i].blocks : "refused");
    }
}

static uint32_t ip_of(const uint8_t *block) {
    return (uint32_t)block[2] << 24 | (uint32_t)block[3] << 16 | (uint32_t)block[4] << 8 | block[5];
}

/* Blocks of a range follow each other without a gap, and two equal neighbours would be one. */
static void blocks_of_any_range(void **unused) {
    (void)unused;
    for (int trial = 0; trial < 20000; trial++) {
        uint64_t first = (uint32_t)any(UINT64_MAX), last = first + any(1ULL << any(33));
        if (last > UINT32_MAX) last = UINT32_MAX;
        char line[64], room[2 * CANON_GROWTH], from[16], to[16];
        const uint32_t a = htonl((uint32_t)first), b = htonl((uint32_t)last);
        snprintf(line, sizeof line, "%s-%s", inet_ntop(AF_INET, &a, from, sizeof from),
                 inet_ntop(AF_INET, &b, to, sizeof to));
        struct tamis_key rest, block;
        assert_true(form_of("cidr", line, room, &rest));
        assert_true(rest.len <= 62 * 6);
        uint64_t next = first;
        for (unsigned before = 0; next_listed(TO_BLOCKS, &rest, &block);) {
            const uint8_t *bytes = block.bytes;
            const uint64_t size = (uint64_t)1 << (32 - bytes[1]);
            assert_int_equal(ip_of(bytes), next);
            assert_int_equal(next % size, 0);
            if (before == bytes[1]) assert_int_not_equal((next - size) % (2 * size), 0);
            before = bytes[1];
            next += size;
        }
        assert_int_equal(next, last + 1);
    }
}

/* The longest ranges there are fit into the room that steps get. */
static void longest_range(void **unused) {
    (void)unused;
    char room[2 * CANON_GROWTH];
    struct tamis_key key;
    assert_true(form_of("cidr", "::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", room, &key));
    assert_int_equal(key.len, 254 * 18);
    assert_true(key.len <= CANON_GROWTH);
    assert_true(form_of("cidr", "0.0.0.1-255.255.255.254", room, &key));
    assert_int_equal(key.len, 62 * 6);
}

/* ---- What a question asks for ---- */

/* All keys that are asked for, as text. */
static void say_probes(enum reach reach, const struct classes *there, struct tamis_key question,
                       char *text, size_t size) {
    struct probes probes = {0};
    bool is_whole;
    size_t len = 0;
    do {
        probes.n = 0;
        is_whole = probes_add(&probes, reach, there, &question);
        assert_true(probes.n > 0 || is_whole);
        for (size_t i = 0; i < probes.n; i++) {
            if (len > 0) text[len++] = ' ';
            len += match_text(reach, &probes.match[i], text + len, size - len - 1);
            if (reach != TO_BLOCKS) assert_memory_equal(&probes.key[i], &probes.match[i], 16);
        }
    } while (!is_whole);
    text[len] = '\0';
}

static void questions(void **unused) {
    (void)unused;
    static const struct {
        enum reach reach;
        const char *steps, *line, *probes;
    } cases[] = {
        {TO_PARENTS, "domain-2,parents", "www.evil.com", "www.evil.com evil.com com"},
        {TO_PARENTS, "domain-2,parents", "com", "com"},
        {TO_PARENTS, "domain-2,parents", "*.A.b", "a.b b"},
        {TO_PARENTS, "domain-2,parents", "http://10.1.2.3/", "10.1.2.3"},
        {TO_PARENTS, "domain-2,parents", "2001:db8::1", "2001:db8::1"},
        {TO_PARENTS, "domain-2,parents", "a.b2", "a.b2 b2"},
        {TO_BLOCKS, "cidr", "192.0.0.0/3", "192.0.0.0/3 192.0.0.0/2 128.0.0.0/1 0.0.0.0/0"},
        {TO_BLOCKS, "cidr", "::/1", "::/1 ::/0"},
        {TO_PREFIXES, "url-prefix", "http://a.b.c/1/2.html?param=1",
         "a.b.c/1/2.html?param=1 a.b.c/1/2.html a.b.c/1/ a.b.c/ "
         "b.c/1/2.html?param=1 b.c/1/2.html b.c/1/ b.c/ "
         "c/1/2.html?param=1 c/1/2.html c/1/ c/"},
        {TO_PREFIXES, "url-prefix", "1.2.3.4/a/", "1.2.3.4/a/ 1.2.3.4/"},
        {TO_PREFIXES, "url-prefix", "evil", "evil/"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char room[2 * CANON_GROWTH], text[1024];
        struct tamis_key key;
        assert_true(form_of(cases[i].steps, cases[i].line, room, &key));
        say_probes(cases[i].reach, &all, key, text, sizeof text);
        if (strcmp(text, cases[i].probes) != 0)
            fail_msg("'%s' asks '%s', not '%s'", cases[i].line, text, cases[i].probes);
    }
}

/* Only what the set has, and a listed key always asks for itself. */
static void classes_that_are_there(void **unused) {
    (void)unused;
    static const struct {
        enum reach reach;
        const char *steps, *listed, *line, *probes;
        unsigned most;
    } cases[] = {
        {TO_PARENTS, "domain-2,parents", "evil.com", "a.b.evil.com", "evil.com", 1},
        {TO_PARENTS, "domain-2,parents", "co.uk", "x.co.uk", "co.uk", 1},
        {TO_PARENTS, "domain-2,parents", "evil.com", "com", "", 1},
        {TO_PARENTS, "domain-2,parents", "10.0.0.1", "10.0.0.1", "10.0.0.1", 1},
        {TO_PARENTS, "domain-2,parents", "10.0.0.1", "a.b.c.d", "", 1},
        {TO_BLOCKS, "cidr", "10.0.0.0/8", "10.1.2.3", "10.0.0.0/8", 1},
        {TO_BLOCKS, "cidr", "10.0.0.5-7", "10.1.2.3", "10.1.2.3 10.1.2.2/31", 2},
        {TO_BLOCKS, "cidr", "10.0.0.0/8", "::1", "", 1},
        {TO_BLOCKS, "cidr", "2001:db8::/32", "2001:db8::1", "2001:db8::/32", 1},
        {TO_BLOCKS, "cidr", "10.0.0.0/24", "10.0.0.0/16", "", 1},
        {TO_PREFIXES, "url-prefix", "evil.com", "www.evil.com/a/b", "evil.com/", 1},
        {TO_PREFIXES, "url-prefix", "evil.com/a/", "www.evil.com/a/b?c", "evil.com/a/", 1},
        {TO_PREFIXES, "url-prefix", "evil.com/a", "evil.com/a?b", "evil.com/a", 1},
        {TO_PREFIXES, "url-prefix", "evil.com/a?b", "evil.com/a?b", "evil.com/a?b", 1},
        {TO_PREFIXES, "url-prefix", "evil.com/a?b", "evil.com/a", "", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char room[2 * CANON_GROWTH], text[1024];
        struct classes there = {0};
        struct tamis_key rest, key;
        assert_true(form_of(cases[i].steps, cases[i].listed, room, &rest));
        while (next_listed(cases[i].reach, &rest, &key)) classes_note(cases[i].reach, &key, &there);
        assert_int_equal(most_probes(cases[i].reach, &there), cases[i].most);
        assert_true(form_of(cases[i].steps, cases[i].line, room, &key));
        say_probes(cases[i].reach, &there, key, text, sizeof text);
        if (strcmp(text, cases[i].probes) != 0)
            fail_msg("%s: '%s' asks '%s', not '%s'", cases[i].listed, cases[i].line, text,
                     cases[i].probes);
    }
}

/* More than fits at once: all hosts of a long name, all directories of a long path. */
static void questions_in_pieces(void **unused) {
    (void)unused;
    char line[2048] = "", room[2048 + CANON_GROWTH], *text = malloc(1 << 24);
    assert_non_null(text);
    for (int i = 0; i < 120; i++) strcat(line, "a.");
    strcat(line, "b");
    for (int i = 0; i < 100; i++) strcat(line, "/d");
    struct tamis_key key;
    assert_true(form_of("url-prefix", line, room, &key));
    say_probes(TO_PREFIXES, &all, key, text, 1 << 24);
    size_t probes = 1;
    for (const char *at = text; *at; at++) probes += *at == ' ';
    assert_int_equal(probes, 121 * (62 + 1));
    assert_string_equal(text + strlen(text) - 3, " b/");
    /* A name of the most labels in DNS, and one label. */
    key = (struct tamis_key){line, 0};
    memset(line, 'a', 253);
    for (int i = 1; i < 253; i += 2) line[i] = '.';
    line[253] = '\0';
    assert_true(form_of("domain-2,parents", line, room, &key));
    say_probes(TO_PARENTS, &all, key, text, 1 << 24);
    probes = 1;
    for (const char *at = text; *at; at++) probes += *at == ' ';
    assert_int_equal(probes, 127);
    free(text);
}

static void urls(void **unused) {
    (void)unused;
    static const struct {
        const char *line, *key; /* NULL: refused */
    } cases[] = {
        {"http://Host.COM:8080/A?b#c", "host.com/A?b"},
        {"//host.com", "host.com/"},
        {"host.com?q", "host.com/?q"},
        {"user:pw@host.com/x", "host.com/x"},
        {"host.com/a//b/./c/../d", "host.com/a/b/d"},
        {"host.com/../../a", "host.com/a"},
        {"host.com/a/..", "host.com/"},
        {"host.com/a/b/..", "host.com/a/"},
        {"host.com/a/.", "host.com/a/"},
        {"host.com/...", "host.com/..."},
        {"host.com/%61%2Fb", "host.com/a/b"},
        {"host.com/%2561", "host.com/a"},
        {"host.com/%25%36%31", "host.com/a"},
        {"host.com/%", "host.com/%"},
        {"host.com/%zz%4", "host.com/%zz%4"},
        {"host.com/%2e%2e/a", "host.com/a"},
        {"host.com/a?b=%2e%2E/../c", "host.com/a?b=../../c"},
        {"%68ost.com/a", "host.com/a"},
        {"hxxp[:]//host[.]com/a", "host.com/a"},
        {"*.host.com/a", "host.com/a"},
        {"[2001:DB8::1]:80/a", "2001:db8::1/a"},
        {"host.com/a b", "host.com/a b"},
        {"host.com/a #x", "host.com/a"},
        {"/a", NULL},
        {"http:///a", NULL},
        {"ho st.com/a", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *room = malloc(strlen(cases[i].line) + CANON_GROWTH); /* exact, for sanitizers */
        struct tamis_key key;
        assert_non_null(room);
        const bool is_form = form_of("url-prefix", cases[i].line, room, &key);
        if (is_form != (cases[i].key != NULL) ||
            (is_form &&
             (key.len != strlen(cases[i].key) || memcmp(key.bytes, cases[i].key, key.len))))
            fail_msg("'%s' is '%.*s'", cases[i].line, is_form ? (int)key.len : 7,
                     is_form ? (const char *)key.bytes : "refused");
        free(room);
    }
}

/* ---- Marks ---- */

static void marks(void **unused) {
    (void)unused;
    static const struct {
        enum reach reach;
        unsigned class;
        const char *text;
    } cases[] = {
        {TO_PARENTS, 0, "parents/0"},
        {TO_PARENTS, 2, "parents/2"},
        {TO_PARENTS, 127, "parents/127"},
        {TO_PARENTS, 128, NULL},
        {TO_BLOCKS, 0, "cidr/4/0"},
        {TO_BLOCKS, 32, "cidr/4/32"},
        {TO_BLOCKS, 33, "cidr/6/0"},
        {TO_BLOCKS, 161, "cidr/6/128"},
        {TO_BLOCKS, 162, NULL},
        {TO_PREFIXES, 2, "url-prefix/host/2"},
        {TO_PREFIXES, 128, "url-prefix/directory/0"},
        {TO_PREFIXES, 189, "url-prefix/directory/61"},
        {TO_PREFIXES, 190, "url-prefix/path"},
        {TO_PREFIXES, 191, "url-prefix/query"},
        {TO_ITSELF, 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char mark[MARK_TEXT];
        const size_t len = mark_of(cases[i].reach, cases[i].class, mark);
        assert_int_equal(len, cases[i].text ? 1 + strlen(cases[i].text) : 0);
        if (len) assert_memory_equal(mark + 1, cases[i].text, len - 1);
        if (len) assert_int_equal(mark[0], 0);
    }
}

/* ---- Names in other scripts ---- */

static void names_in_other_scripts(void **unused) {
    (void)unused;
    static const struct {
        const char *steps, *text, *form; /* NULL: refused */
    } cases[] = {
        {"domain-2", "münchen.de", "xn--mnchen-3ya.de"},
        {"domain-2", "MÜNCHEN.DE", "xn--mnchen-3ya.de"},
        {"domain-2", "mu\xcc\x88nchen.de.", "xn--mnchen-3ya.de"}, /* u and two dots */
        {"domain-2", "XN--mnchen-3ya.de", "xn--mnchen-3ya.de"},
        {"domain-2", "faß.de", "xn--fa-hia.de"}, /* not fass.de */
        {"domain-2", "http://www.münchen.de:80/ü", "www.xn--mnchen-3ya.de"},
        {"domain-2", "例え。テスト", "xn--r8jz45g.xn--zckzah"},
        {"domain-2", "ｅｖｉｌ．com", "evil.com"},
        {"domain-2", "１０.0.0.1", "10.0.0.1"},
        {"domain-2", "münchen[.]de", "xn--mnchen-3ya.de"},
        {"domain-2", "m\xfcnchen.de", NULL},
        {"domain-2", "ü..de", NULL},
        {"domain-2", "ü\xef\xbc\x8f.de", NULL}, /* a full-width slash */
        {"email-2", "Jürgen@MÜNCHEN.de", "Jürgen@xn--mnchen-3ya.de"},
        {"url-2", "hxxp://MÜNCHEN.de/ü?ü", "http://xn--mnchen-3ya.de/ü?ü"},
        {"url-prefix", "MÜNCHEN.de/%C3%BC", "xn--mnchen-3ya.de/ü"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char room[2 * CANON_GROWTH];
        struct tamis_key key;
        const bool is_ascii =
            strspn(cases[i].text, "XN--mnchen3yadeilv.o") == strlen(cases[i].text);
        const char *form = idn_is_built_in() || is_ascii ? cases[i].form : NULL;
        const bool is_form = form_of(cases[i].steps, cases[i].text, room, &key);
        if (is_form != (form != NULL) ||
            (is_form && (key.len != strlen(form) || memcmp(key.bytes, form, key.len) != 0)))
            fail_msg("'%s' is '%.*s'", cases[i].text, is_form ? (int)key.len : 7,
                     is_form ? (const char *)key.bytes : "refused");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_any_text),
        cmocka_unit_test(blocks_of_lines),
        cmocka_unit_test(blocks_of_any_range),
        cmocka_unit_test(longest_range),
        cmocka_unit_test(questions),
        cmocka_unit_test(classes_that_are_there),
        cmocka_unit_test(questions_in_pieces),
        cmocka_unit_test(urls),
        cmocka_unit_test(marks),
        cmocka_unit_test(names_in_other_scripts),
    };
    return cmocka_run_group_tests_name("expand", tests, NULL, NULL);
}
