/* SPDX-License-Identifier: MIT */
/* test_csv.c: records of CSV against a reader that looks at one byte after the other, and fields of
 * JSON objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/keys/form.h"
#include "cli/keys/scan.h"

static uint64_t seed;

static uint32_t draw(uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* ---- Records ---- */

enum { TEXT = 1000 };

/* The ends of records, a byte at a time; whether a quote is open at the end. */
static bool slow_ends(const char *text, size_t len, size_t *end, size_t *n) {
    bool is_start = true, is_open = false;
    *n = 0;
    for (size_t i = 0; i < len; i++) {
        if (is_open) {
            if (text[i] == '"' && i + 1 < len && text[i + 1] == '"')
                i++;
            else if (text[i] == '"')
                is_open = false;
            continue;
        }
        if (is_start && text[i] == '"') {
            is_open = true, is_start = false;
            continue;
        }
        is_start = text[i] == ',' || text[i] == '\n';
        if (text[i] == '\n') end[(*n)++] = i;
    }
    return is_open;
}

static void records_end_where_they_do(void **state) {
    (void)state;
    static const char letters[] = "\"\",\n\nax";
    for (seed = 1; seed < 20000; seed += 7) {
        const uint64_t kept = seed;
        char text[TEXT + SCAN_BYTES] = {0};
        size_t wanted[TEXT], found[TEXT + SCAN_BYTES], n, m = 0;
        const size_t len = draw(TEXT);
        const uint32_t quotes = draw(3); /* few, some or many */
        for (size_t i = 0; i < len; i++)
            text[i] = draw(40) < 1 + 12 * quotes ? letters[draw(7)] : 'y';
        memset(text + len, '"', SCAN_BYTES); /* what follows may not matter */
        const bool is_open = slow_ends(text, len, wanted, &n);
        /* In pieces, as blocks come. */
        struct csv_scan scan = {.delimiter = ','};
        const size_t cut = draw((uint32_t)len + 1);
        while (scan.at < cut) m += csv_ends(&scan, text, cut, found + m, SCAN_BYTES);
        while (scan.at < len) m += csv_ends(&scan, text, len, found + m, SCAN_BYTES);
        assert_int_equal(m, n);
        assert_memory_equal(found, wanted, n * sizeof *found);
        assert_int_equal(csv_is_open(&scan), is_open);
        seed = kept;
    }
}

/* ---- Columns ---- */

static struct tamis_key key_of(const char *text) {
    return (struct tamis_key){.bytes = text, .len = strlen(text)};
}

/* Any values, written as CSV, come back; also as one key of all of them. */
static void what_is_written_is_read(void **state) {
    (void)state;
    static const char letters[] = "\",\n xa";
    for (seed = 1; seed < 20000; seed += 7) {
        const uint64_t kept = seed;
        enum { MAX_VALUES = 8, MAX_LEN = 12 };
        char value[MAX_VALUES][MAX_LEN], row[MAX_VALUES * (2 * MAX_LEN + 3)], room[64 * 1024],
            *to = row;
        size_t len[MAX_VALUES], n;
        const size_t values = 1 + draw(MAX_VALUES);
        for (size_t i = 0; i < values; i++) {
            len[i] = draw(MAX_LEN);
            for (size_t j = 0; j < len[i]; j++) value[i][j] = letters[draw(6)];
            if (i > 0) *to++ = ',';
            to = write_part(to, &(struct tamis_key){value[i], len[i]}, ',');
        }
        struct tamis_key column[MAX_VALUES], record = {.bytes = row, .len = (size_t)(to - row)};
        assert_true(csv_columns(',', &record, column, MAX_VALUES, &n));
        assert_int_equal(n, values);
        for (size_t i = 0; i < n; i++) {
            const struct tamis_key read = csv_value(&column[i], room);
            assert_int_equal(read.len, len[i]);
            assert_memory_equal(read.bytes, value[i], len[i]);
        }
        seed = kept;
    }
}

static void quotes_where_they_may_not_be(void **state) {
    (void)state;
    struct tamis_key column[4];
    size_t n;
    static const char *const bad[] = {"\"",       "\"a",     "a,\"b", "\"a\"b",
                                      "\"a\" ,b", "\"a\"\"", "\"\"\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct tamis_key record = key_of(bad[i]);
        if (csv_columns(',', &record, column, 4, &n)) fail_msg("%s is taken", bad[i]);
    }
    static const char *const good[] = {"", "a\"", "a\"b\"", "\"\"", "\"a\"\"\"", " \"a", ","};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const struct tamis_key record = key_of(good[i]);
        if (!csv_columns(',', &record, column, 4, &n)) fail_msg("%s is refused", good[i]);
    }
}

/* ---- JSON ---- */

static const char *json(const char *paths, const char *line, struct tamis_key *key, char *room,
                        bool *is_missing) {
    char why[256];
    struct fields fields = {.shape = SHAPE_JSONL, .joiner = ','};
    assert_true(json_paths_parse(&fields, paths, why, sizeof why));
    *key = key_of(line);
    return json_key(&fields, key, room, is_missing);
}

/* An object that was cut off anywhere is never read as a whole one. */
static void objects_cut_anywhere(void **state) {
    (void)state;
    static const char whole[] = "{\"a\": {\"b\": [1, {\"c\": \"}\"}], \"d\": \"x\\\"\\u0041\"}, "
                                "\"e\": -1.5e3, \"f\": true}";
    char line[sizeof whole], room[64 * 1024];
    struct tamis_key key;
    bool is_missing;
    assert_null(json("a.d,e,f", whole, &key, room, &is_missing));
    assert_false(is_missing);
    assert_int_equal(key.len, strlen("\"x\"\"A\",-1.5e3,true"));
    assert_memory_equal(key.bytes, "\"x\"\"A\",-1.5e3,true", key.len);
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        memcpy(line, whole, len);
        line[len] = '\0';
        const char *wrong = json("f", line, &key, room, &is_missing);
        if (!wrong && !is_missing) fail_msg("%s is taken", line);
    }
}

/* No bytes lead out of the line: a checked build would tell. */
static void any_bytes(void **state) {
    (void)state;
    static const char letters[] = "{}[]\"\\,:u0aZ 1ntd8";
    for (seed = 1; seed < 200000; seed += 3) {
        const uint64_t kept = seed;
        const size_t len = draw(40);
        char *line = malloc(len + 1), room[64 * 1024];
        for (size_t i = 0; i < len; i++) line[i] = letters[draw(sizeof letters - 1)];
        if (len > 1 && draw(2)) line[0] = '{', line[len - 1] = '}';
        line[len] = '\0';
        struct tamis_key key;
        bool is_missing;
        const char *wrong = json("a,\\u", line, &key, room, &is_missing);
        if (!wrong && !is_missing) assert_true(key.len <= 2 * len + 8);
        free(line);
        seed = kept;
    }
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_end_where_they_do),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(quotes_where_they_may_not_be),
        cmocka_unit_test(objects_cut_anywhere),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
