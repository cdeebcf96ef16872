/* SPDX-License-Identifier: MIT */
/* A table of keys through random transactions and losses of power, beside a plain table that has
 * the same keys: after each loss the two agree, so no committed key is ever missing.
 *
 *     power [TRANSACTIONS] [SEED]
 *
 * The kind counts its keys exactly, so that one too many would be noticed as well. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/sqlite/tamis_sqlite.h"
#include "tests/sqlite/forgetful.h"

static uint64_t seed;
static unsigned tests, failures;

static uint64_t draw(uint64_t below) {
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % below;
}

static void report(bool is_good, const char *name) {
    tests++;
    failures += !is_good;
    printf("%s %u - %s\n", is_good ? "ok" : "not ok", tests, name);
}

/* ---- One database --------------------------------------------------------------------------- */

static const struct setting {
    const char *name, *spec, *pragmas;
} settings[] = {
    {"a rollback journal", "multiset:capacity=4000,fpr=1e-6",
     "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA"},
    {"a truncated journal", "counting:capacity=20000,fpr=1e-6",
     "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = EXTRA"},
    {"a write-ahead log", "multiset:capacity=4000,fpr=1e-6",
     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"},
};

static int run(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int run_key(sqlite3 *db, const char *format, uint64_t key) {
    char sql[200];
    snprintf(sql, sizeof sql, format, key, key);
    return run(db, sql);
}

static int64_t number(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    int64_t result = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        result = sqlite3_column_int64(statement, 0);
    else if (!forgetful_has_lost())
        printf("# %s: %s\n", sql, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return result;
}

static sqlite3 *open_database(const struct setting *how) {
    sqlite3 *db;
    if (sqlite3_open("test.db", &db) != SQLITE_OK || sqlite3_tamis_init(db, NULL, NULL)) abort();
    run(db, "PRAGMA page_size = 512; PRAGMA cache_size = 20");
    run(db, how->pragmas);
    return db;
}

/* ---- Transactions --------------------------------------------------------------------------- */

enum { KEYS = 600 };

/* Adds a key that is not there, or removes one that is; both tables in one statement's turn. */
static int change(sqlite3 *db) {
    const uint64_t key = draw(KEYS);
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM plain WHERE key = %" PRIu64, key);
    const int64_t is_there = number(db, sql);
    if (is_there < 0) return SQLITE_IOERR;
    return run_key(db,
                   is_there ? "DELETE FROM seen WHERE key = %" PRIu64
                              "; DELETE FROM plain WHERE key = %" PRIu64
                            : "INSERT INTO seen VALUES (%" PRIu64
                              "); INSERT INTO plain VALUES (%" PRIu64 ")",
                   key);
}

/* Through the trigger, many at once. */
static int change_many(sqlite3 *db) {
    const uint64_t from = draw(KEYS);
    char sql[400];
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE c(i) AS (SELECT %" PRIu64
             " UNION ALL SELECT i + 1 FROM c WHERE i < %" PRIu64
             ") INSERT INTO by_trigger SELECT i FROM c WHERE i NOT IN (SELECT key FROM "
             "plain) AND i < %d",
             from, from + draw(200), KEYS);
    return run(db, sql);
}

/* False when power was lost on the way. */
static bool transaction(sqlite3 *db) {
    const bool has_savepoints = draw(2), is_kept = draw(4);
    int rc = run(db, "BEGIN");
    for (uint64_t steps = 1 + draw(6); rc == SQLITE_OK && steps > 0; steps--) {
        if (has_savepoints && draw(3) == 0) rc = run(db, "SAVEPOINT s");
        if (rc == SQLITE_OK) rc = draw(8) ? change(db) : change_many(db);
        if (rc == SQLITE_OK && has_savepoints && draw(3) == 0) {
            (void)run(db, "ROLLBACK TO s");
            (void)run(db, "RELEASE s");
        }
    }
    if (rc == SQLITE_OK) rc = run(db, is_kept ? "COMMIT" : "ROLLBACK");
    if (rc != SQLITE_OK && !forgetful_has_lost()) printf("# %s\n", sqlite3_errmsg(db));
    return rc == SQLITE_OK;
}

/* ---- What must be true ---------------------------------------------------------------------- */

/* SQLite's own tables first: where they are not well, this file system lies. */
static bool agree(sqlite3 *db) {
    if (number(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") !=
        1) {
        printf("# the database itself is damaged\n");
        return false;
    }
    const int64_t missing = number(db, "SELECT count(*) FROM plain WHERE NOT EXISTS (SELECT 1 FROM "
                                       "seen WHERE seen.key = plain.key)");
    const int64_t keys = number(db, "SELECT count(*) FROM plain");
    const int64_t items = number(db, "SELECT tamis_items(image) FROM seen");
    const bool is_stored = run(db, "INSERT INTO seen(command) VALUES ('check')") == SQLITE_OK;
    if (missing != 0 || keys != items || !is_stored)
        printf("# %" PRId64 " missing, %" PRId64 " keys, %" PRId64 " items: %s\n", missing, keys,
               items, sqlite3_errmsg(db));
    return missing == 0 && keys == items && is_stored;
}

static void walk(const struct setting *how, long transactions) {
    char name[200], sql[200];
    long losses = 0, done = 0;
    bool is_good = true;
    forgetful_clear();
    sqlite3 *db = open_database(how);
    snprintf(sql, sizeof sql, "CREATE VIRTUAL TABLE seen USING tamis('%s')", how->spec);
    if (run(db, sql) || run(db, "CREATE TABLE plain(key PRIMARY KEY) WITHOUT ROWID") ||
        run(db, "CREATE VIEW by_trigger AS SELECT key FROM plain") ||
        run(db,
            "CREATE TRIGGER both INSTEAD OF INSERT ON by_trigger BEGIN INSERT INTO plain VALUES "
            "(new.key); INSERT INTO seen VALUES (new.key); END"))
        abort();
    while (done < transactions && is_good) {
        forgetful_lose_after(1 + (long)draw(400));
        for (bool is_on = true; is_on && done < transactions; done++) is_on = transaction(db);
        sqlite3_close(db);
        forgetful_return(draw(UINT64_MAX));
        losses++;
        db = open_database(how);
        is_good = agree(db);
    }
    snprintf(name, sizeof name, "%s: %ld transactions, %ld losses of power, no key missing",
             how->name, done, losses);
    report(is_good && losses > transactions / 100, name);
    sqlite3_close(db);
}

int main(int argc, char **argv) {
    const long transactions = argc > 1 ? atol(argv[1]) : 900;
    seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 24;
    forgetful_register();
    const long each = transactions / (long)(sizeof settings / sizeof *settings);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) walk(&settings[i], each);
    forgetful_clear();
    printf("1..%u\n", tests);
    return failures > 0;
}
