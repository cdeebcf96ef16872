/* SPDX-License-Identifier: MIT */
/* From a line to the bytes of its key: fields and canonical forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/keys/form.h"
#include "cli/keys/scan.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
enum { ROOM = 2 * CANON_GROWTH };

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t any(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static struct tamis_key key_of(const char *text) {
    return (struct tamis_key){.bytes = text, .len = strlen(text)};
}

/* ---- Fields ---- */

static void delimiters(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        int byte; /* -1: refused */
    } cases[] = {
        {",", ','},  {"\\t", '\t'},  {"\t", '\t'},   {"\\0", 0},     {"\\\\", '\\'},   {"\\", '\\'},
        {" ", ' '},  {"\\x2C", ','}, {"\\xff", 255}, {"", -1},       {",,", -1},       {"\\n", -1},
        {"\\x", -1}, {"\\x2", -1},   {"\\x2g", -1},  {"\\x2cc", -1}, {"\xc3\xa9", -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char byte = 'z';
        const bool is_read = delimiter_parse(cases[i].text, &byte);
        if (is_read != (cases[i].byte >= 0) || (is_read && (uint8_t)byte != cases[i].byte))
            fail_msg("'%s' is %d, not %d", cases[i].text, is_read ? (uint8_t)byte : -1,
                     cases[i].byte);
    }
}

static void invalid_lists(void **unused) {
    (void)unused;
    static const char *const bad[] = {"",           "0",
                                      "?",          "1,",
                                      ",1",         "1,,2",
                                      "3-2",        "-",
                                      "0-3",        "2-0",
                                      "1000001",    "1-a",
                                      "+1",         " 1",
                                      "1 ",         "--2",
                                      "1-2-3",      "-0",
                                      "4294967297", "1-1000001",
                                      "1;2",        "18446744073709551617"};
    struct fields fields;
    char why[256];
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        why[0] = '\0';
        if (fields_parse(&fields, bad[i], why, sizeof why)) fail_msg("'%s' is taken", bad[i]);
        if (!strstr(why, "from 1 to 1,000,000")) fail_msg("'%s': %s", bad[i], why);
    }
    char many[4 * MAX_RANGES] = "1";
    for (int i = 0; i < MAX_RANGES; i++) strcat(many, ",1");
    assert_false(fields_parse(&fields, many, why, sizeof why));
    many[strlen(many) - 2] = '\0';
    assert_true(fields_parse(&fields, many, why, sizeof why));
    assert_true(fields_parse(&fields, "1000000", why, sizeof why));
}

/* The key of a line, in `room`; false if it has none. */
static bool cut(const char *list, const struct tamis_key *line, bool is_mapped, char *room,
                struct tamis_key *key) {
    struct fields fields = {.delimiter = ',', .joiner = ','};
    struct tamis_key part[MAX_RANGES];
    char why[256];
    assert_true(fields_parse(&fields, list, why, sizeof why));
    if (!fields_find(&fields, line, is_mapped, part)) return false;
    fields_join(&fields, part, room, key);
    return true;
}

static void fields_of_lines(void **unused) {
    (void)unused;
    static const struct {
        const char *list, *line, *key; /* NULL: none */
    } cases[] = {
        {"1", "a,b,c", "a"},
        {"2", "a,b,c", "b"},
        {"3", "a,b,c", "c"},
        {"4", "a,b,c", NULL},
        {"1", "", ""},
        {"2", "", NULL},
        {"2", "a,", ""},
        {"2", ",", ""},
        {"3", ",", NULL},
        {"1", ",", ""},
        {"1,3", "a,b,c", "a,c"},
        {"3,1", "a,b,c", "c,a"},
        {"2,2", "a,b,c", "b,b"},
        {"1-2", "a,b,c", "a,b"},
        {"1,2", "a,b,c", "a,b"},
        {"2-4", "a,b,c", NULL},
        {"2-3", "a,b,c", "b,c"},
        {"2-", "a,b,c", "b,c"},
        {"-2", "a,b,c", "a,b"},
        {"3-", "a,b", NULL},
        {"3-", "a,b,", ""},
        {"1-1", "abc", "abc"},
        {"1,4", "a,b,c", NULL},
        {"2-,1", "a,b,c", "b,c,a"},
        {"1,2-,1", "a,b", "a,b,a"},
        {"1,2,3", ",,", ",,"},
        {"3,2,1", "a,b,c", "c,b,a"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[ROOM] = "", room[ROOM];
        memset(line, ',', sizeof line); /* bytes after a line do not count */
        const size_t len = strlen(cases[i].line);
        memcpy(line, cases[i].line, len);
        struct tamis_key key = {0};
        const bool has = cut(cases[i].list, &(struct tamis_key){line, len}, false, room, &key);
        if (has != (cases[i].key != NULL) ||
            (has && (key.len != strlen(cases[i].key) || memcmp(key.bytes, cases[i].key, key.len))))
            fail_msg("--field %s of '%s' is '%.*s'", cases[i].list, cases[i].line, (int)key.len,
                     has ? (const char *)key.bytes : "");
    }
}

/* One field, found the slow way. */
static bool slow_field(const struct tamis_key *line, uint32_t number, struct tamis_key *field) {
    const char *at = line->bytes, *end = at + line->len;
    for (const char *stop = at;; stop++) {
        if (stop < end && *stop != ',') continue;
        if (--number == 0) {
            *field = (struct tamis_key){at, (size_t)(stop - at)};
            return true;
        }
        if (stop == end) return false;
        at = stop + 1;
    }
}

static void assert_same_fields(const struct tamis_key *line, bool is_mapped) {
    static char room[4 * 1024 * 1024];
    for (uint32_t number = 1; number < 12; number++) {
        struct tamis_key slow = {0}, fast = {0};
        char list[24];
        snprintf(list, sizeof list, "%u", number);
        const bool has = slow_field(line, number, &slow);
        assert_int_equal(cut(list, line, is_mapped, room, &fast), has);
        if (!has) continue;
        assert_int_equal(fast.len, slow.len);
        assert_memory_equal(fast.bytes, slow.bytes, slow.len);
    }
}

static void fields_of_any_line(void **unused) {
    (void)unused;
    static char line[ROOM + SCAN_BYTES];
    for (int trial = 0; trial < 20000; trial++) {
        const size_t len = any(any(2) ? 40 : 300), dense = 2 + any(60);
        for (size_t i = 0; i < len + SCAN_BYTES; i++) line[i] = any(dense) ? 'x' : ',';
        assert_same_fields(&(struct tamis_key){line, len}, false);
    }
}

/* Pages of a mapping are released during the search, and come back. */
static void fields_of_a_long_line(void **unused) {
    (void)unused;
    enum { LEN = 3 * 1024 * 1024 + 77 };
    FILE *file = tmpfile();
    assert_non_null(file);
    for (size_t i = 0; i < LEN; i++) putc(any(400000) ? (int)('a' + i % 26) : ',', file);
    assert_int_equal(fflush(file), 0);
    char *line = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    assert_true(line != MAP_FAILED);
    const struct tamis_key key = {line, LEN};
    assert_same_fields(&key, true);
    struct tamis_key fast = {0}, first = {0}, third = {0};
    static char room[LEN + 8];
    assert_true(slow_field(&key, 1, &first) && slow_field(&key, 3, &third));
    assert_true(cut("3,1", &key, true, room, &fast));
    assert_int_equal(fast.len, first.len + third.len + 1);
    assert_memory_equal(room, third.bytes, third.len);
    assert_memory_equal(room + third.len + 1, first.bytes, first.len);
    munmap(line, LEN);
    fclose(file);
}

static void places_of_a_byte(void **unused) {
    (void)unused;
    char bytes[SCAN_BYTES];
    for (int trial = 0; trial < 20000; trial++) {
        const char wanted = (char)any(256);
        uint64_t expected = 0;
        for (unsigned i = 0; i < SCAN_BYTES; i++) {
            /* Neighbouring values are what bit tricks get wrong. */
            bytes[i] = (char)(wanted + (int)any(3) - 1);
            if (!any(4)) bytes[i] = (char)(bytes[i] ^ 0x80);
            expected |= (uint64_t)(bytes[i] == wanted) << i;
        }
        assert_int_equal(scan_for(bytes, wanted), expected);
        if (expected) assert_true(expected >> lowest_bit(expected) & 1);
    }
}

/* ---- Canonical forms ---- */

/* Brings the key to its form, in `room`; NULL on success. `shift` blanks come before the key. */
static const char *apply(const char *steps, const char *text, char *room, size_t shift,
                         struct tamis_key *key) {
    struct canon canon;
    char why[256];
    assert_true(canon_parse(&canon, steps, why, sizeof why));
    *key = key_of(text);
    if (shift < ROOM) {
        memset(room, ' ', shift);
        memcpy(room + shift, text, key->len);
        *key = (struct tamis_key){room, key->len + shift};
    }
    return canon_apply(&canon, key, room);
}

static void assert_form(const char *steps, const char *text, const char *form) {
    /* From elsewhere, in place, and after blanks that are dropped. */
    static const size_t shifts[] = {ROOM, 0, 1, 3, 9};
    const bool drops_blanks = strcmp(steps, "lower") != 0 && strcmp(steps, "upper") != 0;
    for (size_t i = 0; i < (drops_blanks ? COUNT_OF(shifts) : 2); i++) {
        char room[ROOM];
        struct tamis_key key;
        const char *wrong = apply(steps, text, room, shifts[i], &key);
        if (wrong ? form != NULL
                  : !form || key.len != strlen(form) || memcmp(key.bytes, form, key.len) != 0)
            fail_msg("--canon %s of '%s' is '%.*s', not '%s'", steps, text,
                     wrong ? 0 : (int)key.len, (const char *)key.bytes, form ? form : "refused");
        if (form && strcmp(form, text) != 0 && i == 0)
            assert_form(steps, form, form); /* forms are stable */
    }
}

#define L61  "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-abcdefg"
#define L63  L61 "12"
#define SHA1 "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"

static void forms(void **unused) {
    (void)unused;
    static const struct {
        const char *steps, *text, *form; /* NULL: refused */
    } cases[] = {
        {"lower", "AbC-\xc3\x84Z[@`{", "abc-\xc3\x84z[@`{"},
        {"upper", "AbC-\xc3\xa4z[@`{", "ABC-\xc3\xa4Z[@`{"},
        {"trim", " \t a b \t", "a b"},
        {"trim", " \t ", ""},
        {"trim,upper", " a b ", "A B"},

        {"domain", "WWW.Example.COM", "www.example.com"},
        {"domain", "example.com.", "example.com"},
        {"domain", "example.com..", NULL},
        {"domain", "HTTP://user:pw@Www.Example.com.:8080/a@b?q=http://x#y", "www.example.com"},
        {"domain", "https://example.com?x", "example.com"},
        {"domain", "//example.com/x", "example.com"},
        {"domain", "example.com/x://y", "example.com"},
        {"domain", "example.com:443", "example.com"},
        {"domain", "example.com:", "example.com"},
        {"domain", "example.com:http", NULL},
        {"domain", "User@Example.com", "example.com"},
        {"domain", "*.Example.com", "*.example.com"},
        {"domain", "_dmarc.example.com", "_dmarc.example.com"},
        {"domain",
         "B\xc3\x9c"
         "CHER.example",
         "b\xc3\x9c"
         "cher.example"},
        {"domain", "localhost", "localhost"},
        {"domain", "192.0.2.7", "192.0.2.7"},
        {"domain", "http://[2001:DB8:0::1]:80/", "2001:db8::1"},
        {"domain", "2001:DB8::1", "2001:db8::1"},
        {"domain", "a b.example", NULL},
        {"domain", "a..b", NULL},
        {"domain", ".a", NULL},
        {"domain", ".", NULL},
        {"domain", "", NULL},
        {"domain", "http://", NULL},
        {"domain", "a:b:c", NULL},
        {"domain", "[::1", NULL},

        {"domain-2", "WWW.Example.COM.", "www.example.com"},
        {"domain-2", "HTTP://user:pw@Www.Example.com.:8080/a@b?q=http://x#y", "www.example.com"},
        {"domain-2", "User@Example.com", "example.com"},
        {"domain-2", "_dmarc.example.com", "_dmarc.example.com"},
        {"domain-2", "evil[.]com", "evil.com"},
        {"domain-2", "evil(.)com", "evil.com"},
        {"domain-2", "evil{.}com", "evil.com"},
        {"domain-2", "www[.]evil[DOT]com", "www.evil.com"},
        {"domain-2", "evil(dot)com", "evil.com"},
        {"domain-2", "hXXps[:]//evil[.]com[/]x", "evil.com"},
        {"domain-2", "hxxp[://]evil.com/a", "evil.com"},
        {"domain-2", "user[@]evil[.]com", "evil.com"},
        {"domain-2", "user(at)evil.com", "evil.com"},
        {"domain-2", "evil[[.]]com", NULL},
        {"domain-2", "\"quoted.com\"", "quoted.com"},
        {"domain-2", "'quoted.com'", "quoted.com"},
        {"domain-2", "<evil.com>", "evil.com"},
        {"domain-2", "<\" evil.com \">", "evil.com"},
        {"domain-2", "[evil.com]", "evil.com"},
        {"domain-2", "||tracker.com^", "tracker.com"},
        {"domain-2", "||Tracker.com^$third-party,domain=a.com|b.com", "tracker.com"},
        {"domain-2", "||tracker.com$popup", "tracker.com"},
        {"domain-2", "||tracker.com^|", "tracker.com"},
        {"domain-2", "||tracker.com", "tracker.com"},
        {"domain-2", "||*.tracker.com^", "tracker.com"},
        {"domain-2", "||tracker.com/ads/", NULL},
        {"domain-2", "||tracker.com^ads", NULL},
        {"domain-2", "@@||tracker.com^", NULL},
        {"domain-2", "*.wild.com", "wild.com"},
        {"domain-2", ".wild.com", "wild.com"},
        {"domain-2", "*.", NULL},
        {"domain-2", "*", NULL},
        {"domain-2", "a*.wild.com", NULL},
        {"domain-2", "..wild.com", NULL},
        {"domain-2", "<script>", NULL},
        {"domain-2", "<script>alert(1)</script>", NULL},
        {"domain-2", "0.0.0.0 evil.com", NULL},
        {"domain-2", "# comment", NULL},
        {"domain-2", "!comment", NULL},
        {"domain-2", "a..b", NULL},
        {"domain-2", "example.com..", NULL},
        {"domain-2", "", NULL},
        {"domain-2", ".", NULL},
        {"domain-2", "a,b", NULL},
        {"domain-2", "192.0.2.7", "192.0.2.7"},
        {"domain-2", "http://192[.]0.2.7:80/", "192.0.2.7"},
        {"domain-2", "192.0.2.07", NULL},
        {"domain-2", "192.0.2.256", NULL},
        {"domain-2", "1.2.3", NULL},
        {"domain-2", "http://[2001:DB8:0::1]:80/", "2001:db8::1"},
        {"domain-2", "2001:DB8::1", "2001:db8::1"},
        {"domain-2", "[::ffff:1.2.3.4]:443", "1.2.3.4"},
        {"domain-2", "example.com:http", NULL},
        {"domain-2", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"},
        {"domain-2", L63 ".com", L63 ".com"},
        {"domain-2", L63 "a.com", NULL},
        {"domain-2", L63 "." L63 "." L63 "." L61, L63 "." L63 "." L63 "." L61},
        {"domain-2", L63 "." L63 "." L63 "." L61 "a", NULL},

        {"email-2", "John.Doe@Example.COM", "John.Doe@example.com"},
        {"email-2", "MAILTO:a@B.c", "a@b.c"},
        {"email-2", "<a[@]b[.]c>", "a@b.c"},
        {"email-2", "\"a b\"@c.d", "\"a b\"@c.d"},
        {"email-2", "a b@c.d", NULL},
        {"email-2", "a@b c", NULL},
        {"email-2", "a@b..c", NULL},
        {"email-2", "@c.d", NULL},
        {"email-2", "mailto:@c.d", NULL},
        {"email-2", "a@[192.0.2.7]", NULL},

        {"url-2", "HTTP://Example.COM", "http://example.com/"},
        {"url-2", "hXXps[:]//Evil[.]com:443/A?b#c", "https://evil.com/A?b"},
        {"url-2", "<http://a/b>", "http://a/b"},
        {"url-2", "http://User:Pw@HOST.:81/P", "http://User:Pw@host:81/P"},
        {"url-2", "ftp://[2001:DB8::1]:21/x", "ftp://[2001:db8::1]/x"},
        {"url-2", "http://[::ffff:1.2.3.4]/", "http://1.2.3.4/"},
        {"url-2", "file:///etc/X", "file:///etc/X"},
        {"url-2", "http:///x", NULL},
        {"url-2", "http://a_b<c/", NULL},
        {"url-2", "http://a/[[.]]", NULL},
        {"url-2", "example.com/x", NULL},
        {"url-2", "", NULL},

        {"hash", SHA1, SHA1},
        {"hash", "AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D:3730471", SHA1},
        {"hash", "sha1:" SHA1, SHA1},
        {"hash", "SHA-1:" SHA1 ":2", SHA1},
        {"hash", SHA1 "  file.bin", SHA1},
        {"hash", SHA1 " *file.bin", SHA1},
        {"hash", "sha256:" SHA1, NULL},
        {"hash", SHA1 ":", NULL},
        {"hash", SHA1 ":12x", NULL},
        {"hash", SHA1 ";12", NULL},
        {"hash", SHA1 "0", NULL},
        {"hash", "d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e"},
        {"hash", "md5:d41d8cd98f00b204e9800998ecf8427E", "d41d8cd98f00b204e9800998ecf8427e"},
        {"hash", "password", NULL},
        {"hash", ":", NULL},
        {"hash", "", NULL},

        {"email", "John.Doe@Example.COM", "John.Doe@example.com"},
        {"email", "a@b@C.d", "a@b@c.d"},
        {"email", "@example.com", NULL},
        {"email", "a@", NULL},
        {"email", "a", NULL},
        {"email", "a@b c", NULL},
        {"email", "", NULL},
        {"email,lower", "John@Example.COM", "john@example.com"},

        {"url", "HTTP://Example.COM", "http://example.com/"},
        {"url", "http://example.com:80/A?B=c#frag", "http://example.com/A?B=c"},
        {"url", "https://example.com:443", "https://example.com/"},
        {"url", "https://example.com:80/", "https://example.com:80/"},
        {"url", "http://example.com:?q", "http://example.com/?q"},
        {"url", "http://a?q", "http://a/?q"},
        {"url", "http://a#x", "http://a/"},
        {"url", "http://User:Pw@HOST/P", "http://User:Pw@host/P"},
        {"url", "ftp://[2001:DB8::1]:21/x", "ftp://[2001:db8::1]/x"},
        {"url", "file:///etc/X", "file:///etc/X"},
        {"url", "http:///x", NULL},
        {"url", "http://a:x/", NULL},
        {"url", "example.com/x", NULL},
        {"url", "://x", NULL},
        {"url", "1http://x", NULL},
        {"url", "mailto:a@b", NULL},
        {"url", "", NULL},

        {"ip", "192.0.2.7", "192.0.2.7"},
        {"ip", "::FFFF:192.0.2.7", "192.0.2.7"},
        {"ip", "::ffff:c000:207", "192.0.2.7"},
        {"ip", "2001:0DB8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
        {"ip", "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"ip", "2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        {"ip", "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"ip", "::", "::"},
        {"ip", "0:0:0:0:0:0:0:1", "::1"},
        {"ip", "1:0:0:0:0:0:0:0", "1::"},
        {"ip", "::1.2.3.4", "::102:304"},
        {"ip", "[2001:db8::1]", "2001:db8::1"},
        {"ip", "fe80::1%eth0", "fe80::1"},
        {"ip", "[fe80::1%25eth0]", "fe80::1"},
        {"ip", "192.0.2.07", NULL},
        {"ip", "192.0.2", NULL},
        {"ip", "192.0.2.256", NULL},
        {"ip", "192.0.2.7/24", NULL},
        {"ip", "192.0.2.7:80", "192.0.2.7"},
        {"ip", "[2001:DB8::7]:65535", "2001:db8::7"},
        {"ip", "192.0.2.7:", NULL},
        {"ip", "192.0.2.7:655350", NULL},
        {"ip", "192.0.2.7:80:80", NULL},
        {"ip", ":80", NULL},
        {"ip", "[2001:db8::7]80", NULL},
        {"ip", "192.0.2.7%eth0", NULL},
        {"ip", "[192.0.2.7]", "192.0.2.7"},
        {"ip", "192[.]0[.]2(.)7", "192.0.2.7"},
        {"ip", "\"192.0.2[dot]7\"", "192.0.2.7"},
        {"ip", "2001[:]db8::1", "2001:db8::1"},
        {"ip", "[::1", NULL},
        {"ip", ":::", NULL},
        {"ip", "", NULL},
        {"ip", "1111111111111111111111111111111111111111111111111111111111111111111111", NULL},

        {"mac", "AA:BB:CC:DD:EE:0F", "aa:bb:cc:dd:ee:0f"},
        {"mac", "aa-bb-cc-dd-ee-0f", "aa:bb:cc:dd:ee:0f"},
        {"mac", "AABB.CCDD.EE0F", "aa:bb:cc:dd:ee:0f"},
        {"mac", "aabbccddee0f", "aa:bb:cc:dd:ee:0f"},
        {"mac", "02:00:5e:10:00:00:00:01", "02:00:5e:10:00:00:00:01"},
        {"mac", "aa:bb:cc:dd:ee", NULL},
        {"mac", "aa:bb:cc:dd:ee:0f:", NULL},
        {"mac", "aa:bb-cc:dd:ee:0f", NULL},
        {"mac", "aa:bb:cc:dd:ee:0g", NULL},
        {"mac", "aabbccddee0", NULL},
        {"mac", "", NULL},

        {"uuid", "{123E4567-E89B-12D3-A456-426614174000}", "123e4567-e89b-12d3-a456-426614174000"},
        {"uuid", "URN:UUID:123e4567-e89b-12d3-a456-426614174000",
         "123e4567-e89b-12d3-a456-426614174000"},
        {"uuid", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-426614174000"},
        {"uuid", "123e4567-e89b-12d3-a456-42661417400", NULL},
        {"uuid", "123e4567e-89b-12d3-a456-426614174000", NULL},
        {"uuid", "123e4567-e89b-12d3-a456-42661417400g", NULL},
        {"uuid", "", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_form(cases[i].steps, cases[i].text, cases[i].form);
}

static void case_of_every_byte(void **unused) {
    (void)unused;
    for (size_t len = 0; len < 40; len++) {
        for (int trial = 0; trial < 300; trial++) {
            char text[48], low[48], up[48], room[128];
            for (size_t i = 0; i < len; i++) {
                text[i] = (char)(1 + any(255));
                if (text[i] == ' ' || text[i] == '\t') text[i] = 'Q';
                low[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
                up[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 32) : text[i];
            }
            text[len] = '\0';
            struct tamis_key key;
            assert_null(apply("lower", text, room, ROOM, &key));
            assert_memory_equal(key.bytes, low, len);
            assert_null(apply("trim,lower", text, room, any(9), &key));
            assert_int_equal(key.len, len);
            assert_memory_equal(key.bytes, low, len);
            assert_null(apply("trim,upper", text, room, any(9), &key));
            assert_memory_equal(key.bytes, up, len);
        }
    }
}

/* The system writes addresses in the same way, except those that look like IPv4. */
static void any_address(void **unused) {
    (void)unused;
    for (int trial = 0; trial < 20000; trial++) {
        uint8_t ip[16];
        char system[INET6_ADDRSTRLEN], text[64], room[ROOM];
        for (int i = 0; i < 16; i += 2) {
            ip[i] = any(2) ? 0 : (uint8_t)any(256);
            ip[i + 1] = any(2) && !ip[i] ? 0 : (uint8_t)any(256);
        }
        assert_non_null(inet_ntop(AF_INET6, ip, system, sizeof system));
        if (strchr(system, '.')) continue;
        int len = 0;
        for (int i = 0; i < 16; i += 2)
            len += snprintf(text + len, sizeof text - (size_t)len, any(2) ? "%s%x" : "%s%04X",
                            i ? ":" : "", ip[i] << 8 | ip[i + 1]);
        struct tamis_key key;
        assert_null(apply("ip", text, room, any(2) ? ROOM : any(4), &key));
        assert_int_equal(key.len, strlen(system));
        assert_memory_equal(key.bytes, system, key.len);
    }
}

/* A form of any text stays inside its buffer and is stable, or the key is refused. */
static void any_text(void **unused) {
    (void)unused;
    static const char *const names[] = {"domain",  "email", "url",        "ip",
                                        "mac",     "uuid",  "trim,lower", "domain-2",
                                        "email-2", "url-2", "url-prefix", "hash"};
    static const char letters[] = "aZ09:.-@/?#[]%{}()<>|^$ \t*x:/";
    for (int trial = 0; trial < 100000; trial++) {
        char text[64], again[128 + CANON_GROWTH];
        const size_t len = any(sizeof text);
        for (size_t i = 0; i < len; i++) text[i] = letters[any(sizeof letters - 1)];
        text[len] = '\0';
        if (len > 8 && any(2)) memcpy(text, "http://", 7);
        char *room = malloc(len + CANON_GROWTH); /* exact size, for sanitizers */
        assert_non_null(room);
        struct tamis_key key;
        const char *steps = names[any(COUNT_OF(names))];
        if (!apply(steps, text, room, ROOM, &key)) {
            assert_true(key.len <= len + CANON_GROWTH);
            memcpy(again, key.bytes, key.len);
            again[key.len] = '\0';
            /* What is escaped in a URL may be anything when it is not. */
            if (strcmp(steps, "url-prefix") != 0) assert_form(steps, again, again);
        }
        free(room);
    }
}

static void lists_of_steps(void **unused) {
    (void)unused;
    struct canon canon, other;
    char why[256], text[CANON_TEXT];
    assert_true(canon_parse(&canon, "trim,lower,uuid", why, sizeof why));
    canon_write(&canon, text);
    assert_string_equal(text, "trim,lower,uuid");
    assert_false(canon_only_cuts(&canon));
    assert_true(canon_parse(&other, "lower,trim,uuid", why, sizeof why));
    assert_false(canon_is_same(&canon, &other));
    assert_true(canon_parse(&other, "trim", why, sizeof why) && canon_only_cuts(&other));
    static const char *const bad[] = {"", "Lower", "lower,", ",lower", "lower upper", "low"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_false(canon_parse(&canon, bad[i], why, sizeof why));
        const bool is_near = strstr(why, "did you mean lower?");
        if (!is_near && !strstr(why, "lower, upper, trim, domain, parents, email, url, url-prefix, "
                                     "ip, cidr, mac, uuid, hash)"))
            fail_msg("%s", why);
    }
    assert_true(canon_parse(&canon,
                            "trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,"
                            "trim,trim,trim,domain",
                            why, sizeof why));
    canon_write(&canon, text);
    assert_true(canon_parse(&other, text, why, sizeof why) && canon_is_same(&canon, &other));
    assert_false(canon_parse(&canon,
                             "trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,"
                             "trim,trim,trim,trim,trim",
                             why, sizeof why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delimiters),
        cmocka_unit_test(invalid_lists),
        cmocka_unit_test(fields_of_lines),
        cmocka_unit_test(fields_of_any_line),
        cmocka_unit_test(fields_of_a_long_line),
        cmocka_unit_test(places_of_a_byte),
        cmocka_unit_test(forms),
        cmocka_unit_test(case_of_every_byte),
        cmocka_unit_test(any_address),
        cmocka_unit_test(any_text),
        cmocka_unit_test(lists_of_steps),
    };
    return cmocka_run_group_tests_name("forms", tests, NULL, NULL);
}
