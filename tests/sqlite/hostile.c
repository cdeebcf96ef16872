/* SPDX-License-Identifier: MIT */
/* Damaged images at every argument of every function, and memory that runs out at every request:
 * an error each time, nothing else; and nothing is left behind. */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/sqlite/tamis_sqlite.h"

static unsigned tests, failures;

static void report(bool is_good, const char *name) {
    tests++;
    failures += !is_good;
    printf("%s %u - %s\n", is_good ? "ok" : "not ok", tests, name);
}

/* ---- Memory that runs out ------------------------------------------------------------------- */

static sqlite3_mem_methods usual;
static long before_failure = -1; /* requests that are granted; -1: all */
static bool stays_out;
static bool has_failed;

static bool is_refused(void) {
    if (before_failure < 0) return false;
    if (before_failure > 0) {
        before_failure--;
        return false;
    }
    if (has_failed && !stays_out) return false;
    return has_failed = true;
}

static void *take(int size) {
    return is_refused() ? NULL : usual.xMalloc(size);
}

static void *take_again(void *memory, int size) {
    return is_refused() ? NULL : usual.xRealloc(memory, size);
}

static void refuse_after(long requests) {
    before_failure = requests;
    has_failed = false;
}

static void set_memory(void) {
    sqlite3_mem_methods ours;
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
    ours = usual;
    ours.xMalloc = take;
    ours.xRealloc = take_again;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
}

/* ---- Databases ------------------------------------------------------------------------------ */

static sqlite3 *open_database(void) {
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) || sqlite3_tamis_init(db, NULL, NULL)) abort();
    return db;
}

typedef struct image {
    uint8_t *bytes;
    int size;
} image;

static image image_by(const char *sql) {
    sqlite3 *db = open_database();
    sqlite3_stmt *statement;
    image made = {.bytes = NULL};
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) ||
        sqlite3_step(statement) != SQLITE_ROW) {
        printf("# %s: %s\n", sql, sqlite3_errmsg(db));
        abort();
    }
    made.size = sqlite3_column_bytes(statement, 0);
    made.bytes = malloc((size_t)made.size);
    if (!made.bytes) abort();
    memcpy(made.bytes, sqlite3_column_blob(statement, 0), (size_t)made.size);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return made;
}

/* ---- Damaged images ------------------------------------------------------------------------- */

/* ?1 is damaged, and ?2 is not. */
static const char *const statements[] = {
    "SELECT tamis_has(?1, 'a')",
    "SELECT tamis_count(?1, 'a')",
    "SELECT tamis_get(?1, 'a')",
    "SELECT tamis_which(?1, 'a')",
    "SELECT tamis_info(?1)",
    "SELECT tamis_spec(?1)",
    "SELECT tamis_items(?1)",
    "SELECT tamis_rate(?1)",
    "SELECT tamis_note(?1, 'encoding')",
    "SELECT tamis_image(?1)",
    "SELECT tamis_add(?1, 'a')",
    "SELECT tamis_remove(?1, 'a')",
    "SELECT tamis_put(?1, 'a', 1)",
    "SELECT tamis_union(?1, ?2)",
    "SELECT tamis_union(?2, ?1)",
    "SELECT tamis_intersect(?1, ?2)",
    "SELECT tamis_intersect(?2, ?1)",
    "SELECT tamis_fold(?1, 2)",
    "SELECT tamis_set_note(?1, 'a', 'b')",
    "SELECT tamis_export(?1, 'guava')",
    "SELECT tamis_import(?1, 'guava')",
    "SELECT tamis_open(?1)",
    "SELECT tamis_open(?1, 'a name')",
    "SELECT tamis_merge(i) FROM (SELECT ?1 AS i)",
    "SELECT tamis_merge(i) FROM (SELECT ?2 AS i UNION ALL SELECT ?1)",
    "SELECT count(*) FROM tamis_list(?1)",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

/* Is it an error with a sentence of ours? The header of the image is not in a cache: a connection
 * sees one damaged image, or several that differ there. */
static bool is_refused_by(sqlite3 *db, const char *sql, const image *damaged, const image *whole) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL)) abort();
    sqlite3_bind_blob(statement, 1, damaged->bytes, damaged->size, SQLITE_STATIC);
    if (sqlite3_bind_parameter_count(statement) > 1)
        sqlite3_bind_blob(statement, 2, whole->bytes, whole->size, SQLITE_STATIC);
    const int rc = sqlite3_step(statement);
    const bool is_good = rc == SQLITE_ERROR && strncmp(sqlite3_errmsg(db), "tamis: ", 7) == 0 &&
                         strlen(sqlite3_errmsg(db)) > 15;
    if (!is_good) printf("# %s: %d, %s\n", sql, rc, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return is_good;
}

static bool are_all_refused(sqlite3 *db, const image *damaged, const image *whole) {
    bool is_good = true;
    for (int i = 0; i < STATEMENTS; i++)
        is_good &= is_refused_by(db, statements[i], damaged, whole);
    return is_good;
}

/* Exactly as long as it says, so that a read past the end is seen. */
static image cut(const image *whole, int size) {
    image part = {.bytes = malloc(size ? (size_t)size : 1), .size = size};
    if (!part.bytes) abort();
    memcpy(part.bytes, whole->bytes, (size_t)size);
    return part;
}

static bool test_flips(sqlite3 *db, const image *whole) {
    bool is_good = true;
    for (int bit = 0; bit < whole->size * 8 && is_good; bit += bit < 192 * 8 ? 5 : 811) {
        image damaged = cut(whole, whole->size);
        damaged.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        is_good = are_all_refused(db, &damaged, whole);
        if (!is_good) printf("# bit %d\n", bit);
        free(damaged.bytes);
    }
    return is_good;
}

static bool test_lengths(sqlite3 *db, const image *whole) {
    bool is_good = true;
    for (int size = 0; size < whole->size && is_good; size += size < 210 ? 7 : 97) {
        image damaged = cut(whole, size);
        is_good = are_all_refused(db, &damaged, whole);
        if (!is_good) printf("# %d bytes\n", size);
        free(damaged.bytes);
    }
    return is_good;
}

/* The largest number in every word of the header. */
static bool test_numbers(sqlite3 *db, const image *whole) {
    bool is_good = true;
    for (int word = 0; word < 192 && is_good; word += 4) {
        image damaged = cut(whole, whole->size);
        memset(damaged.bytes + word, 0xff, 4);
        if (memcmp(damaged.bytes, whole->bytes, 192) != 0)
            is_good = are_all_refused(db, &damaged, whole);
        free(damaged.bytes);
    }
    return is_good;
}

static const char *const makers[] = {
    "SELECT tamis_build('a', 'blocked:capacity=100')",
    "SELECT tamis_build('a', 'scalable:capacity=10')",
    "SELECT tamis_build('a', 'fuse')",
    "SELECT tamis_build('a', 'multiset:capacity=10')",
    "SELECT tamis_build_labels('a', 'b')",
    "SELECT tamis_build_map('a', 1)",
};

static void test_damage(void) {
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        const image whole = image_by(makers[i]);
        sqlite3 *db = open_database();
        char name[128];
        /* Their header is whole: in a connection that has not seen the image it is read in full. */
        const bool is_good =
            test_flips(db, &whole) && test_lengths(db, &whole) && test_numbers(db, &whole);
        snprintf(name, sizeof name, "damaged: %s", makers[i] + 7);
        report(is_good, name);
        sqlite3_close(db);
        free(whole.bytes);
    }
}

/* ---- Without memory ------------------------------------------------------------------------- */

static const char *const scripts[] = {
    "SELECT tamis_has(tamis_build(1), 1)",
    "SELECT tamis_build('a', 'blocked:capacity=10')",
    "SELECT tamis_build('a', 'guava:capacity=10')",
    "SELECT tamis_build(i, 'fuse') FROM (SELECT 1 AS i UNION SELECT 2)",
    "SELECT tamis_info(tamis_new('scalable:capacity=10'))",
    "SELECT tamis_which(tamis_build_labels(x'61', 'l'), '61')",
    "SELECT tamis_get(tamis_build_map('a', 3), 'a')",
    "SELECT tamis_union(tamis_new('capacity=10'), tamis_add(tamis_new('capacity=10'), 'a'))",
    "SELECT tamis_merge(i) FROM (SELECT tamis_build(1, 'capacity=10') AS i UNION ALL SELECT "
    "tamis_build(2, 'capacity=10'))",
    "SELECT tamis_open(tamis_build(1), 'name'); SELECT tamis_has('name', i) FROM (SELECT 1 AS i "
    "UNION SELECT 2); SELECT tamis_close('name')",
    "SELECT tamis_has((SELECT tamis_open(tamis_build(1))), 1)",
    "SELECT tamis_export(tamis_build('a', 'guava:capacity=10'), 'guava')",
    "SELECT count(*) FROM tamis_kinds()",
    "SELECT kind FROM tamis_plan('fuse:capacity=10')",
    "SELECT hash FROM tamis_list((SELECT tamis_build('a', 'cuckoo:capacity=10')))",
    "CREATE VIRTUAL TABLE t USING tamis('cuckoo:capacity=100'); INSERT INTO t VALUES (1), (2); "
    "BEGIN; INSERT INTO t VALUES (3); SAVEPOINT s; DELETE FROM t WHERE key = 1; ROLLBACK TO s; "
    "COMMIT; SELECT length(image) FROM t; ALTER TABLE t RENAME TO u; INSERT INTO u(command) VALUES "
    "('check'); SELECT key FROM u WHERE key IN (1, 2, '3'); DROP TABLE u",
};

/* What a row says, so that a result without memory is no other than with it. */
static int show(void *all, int columns, char **values, char **names) {
    char *text = all;
    (void)names;
    for (int i = 0; i < columns; i++) {
        const size_t len = strlen(text);
        snprintf(text + len, 2000 - len, "%s|", values[i] ? values[i] : "NULL");
    }
    return 0;
}

/* 0: out of memory, 1: as wanted, -1: something else. */
static int run_short(const char *script, long requests, const char *wanted) {
    char said[2000] = "";
    sqlite3 *db = open_database();
    refuse_after(requests);
    const int rc = sqlite3_exec(db, script, show, said, NULL);
    const bool was_refused = has_failed;
    refuse_after(-1);
    const int code = sqlite3_errcode(db);
    sqlite3_close(db);
    if (rc == SQLITE_OK) return strcmp(said, wanted) == 0 ? 1 : -1;
    if (was_refused && (rc == SQLITE_NOMEM || code == SQLITE_NOMEM)) return 0;
    printf("# after %ld requests: %d\n", requests, rc);
    return -1;
}

static void test_script(const char *script) {
    char name[100], wanted[2000] = "";
    sqlite3 *db = open_database();
    const int rc = sqlite3_exec(db, script, show, wanted, NULL);
    if (rc) printf("# %s\n", sqlite3_errmsg(db));
    sqlite3_close(db);
    bool is_good = rc == SQLITE_OK;
    const sqlite3_int64 before = sqlite3_memory_used();
    for (int way = 0; way < 2 && is_good; way++) {
        stays_out = way;
        long requests = 0;
        int outcome = 0;
        for (bool was_short = true; was_short && is_good; requests++) {
            outcome = run_short(script, requests, wanted);
            was_short = outcome == 0 || has_failed;
            is_good = outcome >= 0 && requests < 20000;
        }
        is_good = is_good && outcome == 1;
    }
    if (sqlite3_memory_used() != before) {
        printf("# %lld bytes are left behind\n", (long long)(sqlite3_memory_used() - before));
        is_good = false;
    }
    snprintf(name, sizeof name, "without memory: %.70s", script);
    report(is_good, name);
}

/* ---- Values beyond a limit ------------------------------------------------------------------ */

static void test_limits(void) {
    static const char *const large[] = {
        "SELECT tamis_new('blocked:capacity=1e6')",
        "SELECT tamis_new('blocked:capacity=2^50')",
        "SELECT tamis_build(1, 'blocked:capacity=1e6')",
        "SELECT tamis_build(1, 'ribbon:capacity=1e12')",
    };
    sqlite3 *db = open_database();
    bool is_good = true;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100000);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const int rc = sqlite3_exec(db, large[i], NULL, NULL, NULL);
        const bool says_way_out = strstr(sqlite3_errmsg(db), "tamis_open(file)");
        if (rc != SQLITE_ERROR || !says_way_out) {
            printf("# %s: %d, %s\n", large[i], rc, sqlite3_errmsg(db));
            is_good = rc == SQLITE_ERROR && i == 3; /* keys are few, whatever the capacity says */
        }
    }
    report(is_good, "filters beyond the limit of values are refused, with the way out");
    sqlite3_close(db);
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* A program that links the extension says which directory is open, and closes it again. */
static void test_files(void) {
    static const char ask[] = "SELECT tamis_has('f.tamis', 'a')";
    char directory[] = "/tmp/tamis-sqlite-XXXXXX", path[64];
    const image whole = image_by(makers[0]);
    sqlite3 *db = open_database(), *bare;
    if (!mkdtemp(directory)) abort();
    snprintf(path, sizeof path, "%s/f.tamis", directory);
    FILE *file = fopen(path, "wb");
    bool is_good = file && fwrite(whole.bytes, 1, (size_t)whole.size, file) == (size_t)whole.size;
    is_good &= file && fclose(file) == 0;
    is_good &= sqlite3_exec(db, ask, NULL, NULL, NULL) == SQLITE_ERROR;
    is_good &= sqlite3_tamis_allow_files(db, directory) == SQLITE_OK;
    is_good &= sqlite3_exec(db, ask, NULL, NULL, NULL) == SQLITE_OK;
    is_good &= sqlite3_tamis_allow_files(db, NULL) == SQLITE_OK;
    is_good &= sqlite3_exec(db, ask, NULL, NULL, NULL) == SQLITE_ERROR;
    is_good &= sqlite3_open(":memory:", &bare) == SQLITE_OK;
    is_good &= sqlite3_tamis_allow_files(bare, directory) == SQLITE_MISUSE;
    report(is_good, "files are those of the directory that the program allows");
    sqlite3_close(bare);
    sqlite3_close(db);
    remove(path);
    remove(directory);
    free(whole.bytes);
}

int main(void) {
    set_memory();
    test_files();
    test_damage();
    test_limits();
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) test_script(scripts[i]);
    sqlite3_shutdown();
    printf("1..%u\n", tests);
    return failures > 0;
}
