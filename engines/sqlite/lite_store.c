/* SPDX-License-Identifier: MIT */
/* The filter of a table, and how it is kept in the database. */
#include "engines/sqlite/lite_store.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

enum {
    PAGE = 64 << 10,
    STATE = 40,              /* bytes: four numbers and their sum */
    MIN_JOURNAL = 64 << 10,  /* bytes, before pages are written */
    MAX_FILTER = 1000 << 20, /* bytes */
};
#define JOURNAL ((sqlite3_int64)1 << 40)

/* What a change is in the journal: this byte, then a hash in 8 bytes, or a length in 4 and as many
 * bytes. */
enum change { ADD_HASH = 1, REMOVE_HASH, ADD_KEY, REMOVE_KEY, NOTE };

enum query { READ_ROW, READ_ROWS, WRITE_ROW, DELETE_ROWS, QUERIES };

struct lite_store {
    lite *state;
    char *schema, *table;
    char why[LITE_MESSAGE];
    sqlite3_stmt *query[QUERIES];

    lite_filter filter;                /* .f is NULL until it is read */
    tamis *f;                          /* the same, to be changed */
    unsigned abilities;                /* of its kind */
    uint64_t stamp, size, rows, bytes; /* of the state it was read with, or flushed to */

    uint8_t *pending; /* changes that are in memory alone */
    size_t used, room;
    bool is_bulk; /* they are more than a journal has: pages will be written */
};

/* ---- Errors --------------------------------------------------------------------------------- */

const char *lite_store_why(const lite_store *s) {
    return s->why;
}

static int refuse(lite_store *s, int rc, const char *sentence) {
    snprintf(s->why, sizeof s->why, "tamis: %s", sentence);
    return rc;
}

static int no_memory(lite_store *s) {
    return refuse(s, SQLITE_NOMEM, "out of memory");
}

static int damaged(lite_store *s, const char *what) {
    snprintf(s->why, sizeof s->why, "tamis: the table \"%.128s\" is damaged: %s", s->table, what);
    return SQLITE_CORRUPT_VTAB;
}

/* What the library refused. */
static int check(lite_store *s, tamis_status rc) {
    if (!rc) return SQLITE_OK;
    if (rc == TAMIS_NOMEM) return no_memory(s);
    return refuse(s, rc == TAMIS_CANCELLED ? SQLITE_INTERRUPT : SQLITE_ERROR, tamis_why());
}

/* What SQLite refused. */
static int of_sqlite(lite_store *s, int rc) {
    return refuse(s, rc, sqlite3_errmsg(s->state->db));
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static const char *const queries[QUERIES] = {
    [READ_ROW] = "SELECT bytes FROM \"%w\".\"%w_data\" WHERE id = ?1",
    [READ_ROWS] = "SELECT id, bytes FROM \"%w\".\"%w_data\" WHERE id >= ?1 ORDER BY id",
    [WRITE_ROW] = "REPLACE INTO \"%w\".\"%w_data\"(id, bytes) VALUES (?1, ?2)",
    [DELETE_ROWS] = "DELETE FROM \"%w\".\"%w_data\" WHERE id >= ?1 AND id < ?2",
};

static int prepare(lite_store *s, enum query which, sqlite3_stmt **statement) {
    int rc = SQLITE_OK;
    if (!s->query[which]) {
        char *sql = sqlite3_mprintf(queries[which], s->schema, s->table);
        if (!sql) return no_memory(s);
        rc = sqlite3_prepare_v3(s->state->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->query[which],
                                NULL);
        sqlite3_free(sql);
    }
    *statement = s->query[which];
    return rc == SQLITE_OK ? SQLITE_OK : of_sqlite(s, rc);
}

/* Ends a statement that returns no row. */
static int finish(lite_store *s, sqlite3_stmt *statement) {
    (void)sqlite3_step(statement);
    const int rc = sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return rc == SQLITE_OK ? SQLITE_OK : of_sqlite(s, rc);
}

static int write_row(lite_store *s, sqlite3_int64 id, const void *bytes, size_t size) {
    sqlite3_stmt *statement;
    int rc = prepare(s, WRITE_ROW, &statement);
    if (rc != SQLITE_OK) return rc;
    sqlite3_bind_int64(statement, 1, id);
    rc = sqlite3_bind_blob64(statement, 2, bytes, size, SQLITE_STATIC);
    return rc == SQLITE_OK ? finish(s, statement) : of_sqlite(s, rc);
}

static int delete_rows(lite_store *s, sqlite3_int64 from, sqlite3_int64 to) {
    sqlite3_stmt *statement;
    const int rc = prepare(s, DELETE_ROWS, &statement);
    if (rc != SQLITE_OK) return rc;
    sqlite3_bind_int64(statement, 1, from);
    sqlite3_bind_int64(statement, 2, to);
    return finish(s, statement);
}

static void finalize(lite_store *s) {
    for (int i = 0; i < QUERIES; i++) {
        sqlite3_finalize(s->query[i]);
        s->query[i] = NULL;
    }
}

/* ---- Numbers and sums ----------------------------------------------------------------------- */

static void put_number(uint8_t *to, uint64_t number, unsigned size) {
    for (unsigned i = 0; i < size; i++) to[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t get_number(const uint8_t *from, unsigned size) {
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++) number |= (uint64_t)from[i] << 8 * i;
    return number;
}

/* FNV-1a, from the number of the row on: against accidents, as the sums of an image. */
static uint64_t sum_of(sqlite3_int64 id, const uint8_t *bytes, size_t size) {
    uint64_t sum = 0xcbf29ce484222325 ^ (uint64_t)id;
    for (size_t i = 0; i < size; i++) sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

/* ---- The state ------------------------------------------------------------------------------ */

typedef struct stored {
    uint64_t stamp, size, rows, bytes;
} stored;

static int read_state(lite_store *s, stored *now) {
    sqlite3_stmt *statement;
    int rc = prepare(s, READ_ROW, &statement);
    if (rc != SQLITE_OK) return rc;
    sqlite3_bind_int64(statement, 1, 0);
    rc = sqlite3_step(statement);
    const uint8_t *bytes = rc == SQLITE_ROW ? sqlite3_column_blob(statement, 0) : NULL;
    const bool has_failed = !bytes && sqlite3_errcode(s->state->db) == SQLITE_NOMEM;
    const bool is_whole = bytes && sqlite3_column_bytes(statement, 0) == STATE &&
                          get_number(bytes + STATE - 8, 8) == sum_of(0, bytes, STATE - 8);
    if (is_whole)
        *now = (stored){.stamp = get_number(bytes, 8),
                        .size = get_number(bytes + 8, 8),
                        .rows = get_number(bytes + 16, 8),
                        .bytes = get_number(bytes + 24, 8)};
    const int end = sqlite3_reset(statement);
    if (end != SQLITE_OK) return of_sqlite(s, end);
    if (has_failed) return no_memory(s);
    if (rc == SQLITE_ROW && is_whole) return SQLITE_OK;
    return damaged(s, "its state is missing or not one");
}

static int write_state(lite_store *s, const stored *now) {
    uint8_t bytes[STATE];
    put_number(bytes, now->stamp, 8);
    put_number(bytes + 8, now->size, 8);
    put_number(bytes + 16, now->rows, 8);
    put_number(bytes + 24, now->bytes, 8);
    put_number(bytes + STATE - 8, sum_of(0, bytes, STATE - 8), 8);
    return write_row(s, 0, bytes, sizeof bytes);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void forget(lite_store *s) {
    tamis_free(s->f);
    s->f = NULL;
    s->filter = (lite_filter){.f = NULL};
    s->used = 0;
    s->is_bulk = false;
}

static void follow(lite_store *s, const stored *now) {
    s->stamp = now->stamp;
    s->size = now->size;
    s->rows = now->rows;
    s->bytes = now->bytes;
}

static void keep(lite_store *s, tamis *f, const stored *now) {
    struct tamis_info info = TAMIS_INFO_INIT;
    forget(s);
    tamis_get_info(f, &info);
    s->f = f;
    s->filter.f = f;
    s->abilities = info.abilities;
    follow(s, now);
}

static struct tamis_options options_of(const lite_store *s) {
    struct tamis_options options = s->state->options;
    options.max_bytes = MAX_FILTER;
    return options;
}

/* One change that is no hash: what is done with as many bytes. */
static tamis_status replay_bytes(tamis *f, enum change change, const uint8_t *bytes, size_t len) {
    char text[64];
    if (change == ADD_KEY) return tamis_add(f, bytes, len);
    if (change == REMOVE_KEY) return tamis_remove(f, bytes, len);
    if (change != NOTE || len >= sizeof text) return TAMIS_CORRUPT;
    memcpy(text, bytes, len);
    text[len] = '\0';
    return tamis_set_note(f, "encoding", text);
}

/* One change, and its length. */
static tamis_status replay_one(tamis *f, const uint8_t *at, size_t left, size_t *done) {
    *done = 9;
    if (left >= *done && at[0] == ADD_HASH) return tamis_add_hash(f, get_number(at + 1, 8));
    if (left >= *done && at[0] == REMOVE_HASH) return tamis_remove_hash(f, get_number(at + 1, 8));
    const uint64_t len = left < 5 ? UINT64_MAX : get_number(at + 1, 4);
    if (left < 5 || len > left - 5) return TAMIS_CORRUPT;
    *done = 5 + (size_t)len;
    return replay_bytes(f, (enum change)at[0], at + 5, (size_t)len);
}

/* A row: its sum, then changes. */
static tamis_status replay(tamis *f, sqlite3_int64 id, const uint8_t *bytes, size_t size) {
    tamis_status rc = TAMIS_OK;
    if (size < 8 || get_number(bytes, 8) != sum_of(id, bytes + 8, size - 8)) return TAMIS_CORRUPT;
    for (size_t at = 8, done; at < size && !rc; at += done)
        rc = replay_one(f, bytes + at, size - at, &done);
    return rc;
}

/* The rows of a range in order, one after the other. */
typedef struct reader {
    sqlite3_stmt *statement;
    sqlite3_int64 next;
    bool has_no_memory;
} reader;

static int open_reader(lite_store *s, reader *r, sqlite3_int64 first) {
    const int rc = prepare(s, READ_ROWS, &r->statement);
    if (rc != SQLITE_OK) return rc;
    sqlite3_bind_int64(r->statement, 1, first);
    r->next = first;
    r->has_no_memory = false;
    return SQLITE_OK;
}

/* NULL when the next row is not there, or no blob; see close_reader for why. */
static const uint8_t *read_next(reader *r, size_t *size) {
    if (sqlite3_step(r->statement) != SQLITE_ROW) return NULL;
    if (sqlite3_column_int64(r->statement, 0) != r->next++) return NULL;
    if (sqlite3_column_type(r->statement, 1) != SQLITE_BLOB) return NULL;
    const uint8_t *bytes = sqlite3_column_blob(r->statement, 1);
    *size = (size_t)sqlite3_column_bytes(r->statement, 1);
    r->has_no_memory = !bytes && *size > 0;
    return bytes;
}

static int close_reader(lite_store *s, reader *r, bool is_whole, const char *what) {
    const int rc = sqlite3_reset(r->statement);
    if (rc != SQLITE_OK) return of_sqlite(s, rc);
    if (r->has_no_memory) return no_memory(s);
    return is_whole ? SQLITE_OK : damaged(s, what);
}

/* At least `needed` bytes, in steps that double. */
static bool image_room(uint8_t **image, uint64_t *room, uint64_t needed, uint64_t size) {
    if (needed <= *room) return true;
    uint64_t more = *room * 2 > needed ? *room * 2 : needed;
    if (more > size) more = size;
    uint8_t *moved = sqlite3_realloc64(*image, more);
    if (!moved) return false;
    *image = moved;
    *room = more;
    return true;
}

/* The image, whose memory grows with the pages that are there. */
static int read_image(lite_store *s, uint64_t size, uint8_t **image) {
    reader r;
    uint64_t room = 0, got = 0;
    size_t len;
    const uint8_t *page;
    *image = NULL;
    if (size > MAX_FILTER + PAGE) return damaged(s, "its size is more than that of any table");
    int rc = open_reader(s, &r, 1);
    if (rc != SQLITE_OK) return rc;
    while (got < size && (page = read_next(&r, &len))) {
        if (len != (size - got < PAGE ? size - got : PAGE)) break;
        if (!image_room(image, &room, got + len, size)) {
            sqlite3_reset(r.statement);
            return no_memory(s);
        }
        memcpy(*image + got, page, len);
        got += len;
    }
    return close_reader(s, &r, got == size, "a page is missing, or too short");
}

static int read_journal(lite_store *s, tamis *f, uint64_t rows) {
    reader r;
    size_t size;
    const uint8_t *bytes;
    uint64_t done = 0;
    const int rc = open_reader(s, &r, JOURNAL);
    if (rc != SQLITE_OK) return rc;
    while (done < rows && (bytes = read_next(&r, &size))) {
        const tamis_status status = replay(f, JOURNAL + (sqlite3_int64)done, bytes, size);
        r.has_no_memory = status == TAMIS_NOMEM;
        if (status) break;
        done++;
    }
    return close_reader(s, &r, done == rows, "a row of its journal is missing, or not one");
}

static int read_filter(lite_store *s, const stored *now, tamis **made) {
    const struct tamis_options options = options_of(s);
    uint8_t *image;
    tamis *f = NULL;
    int rc = read_image(s, now->size, &image);
    if (rc == SQLITE_OK) {
        const tamis_status status = tamis_load_with(&f, image, (size_t)now->size, &options);
        if (status) rc = status == TAMIS_NOMEM ? no_memory(s) : damaged(s, tamis_why());
    }
    sqlite3_free(image);
    if (rc == SQLITE_OK) rc = read_journal(s, f, now->rows);
    if (rc != SQLITE_OK) {
        tamis_free(f);
        f = NULL;
    }
    *made = f;
    return rc;
}

int lite_store_look(lite_store *s) {
    stored now;
    if (!s->f || s->used || s->is_bulk) return SQLITE_OK; /* nobody else changes what we do */
    const int rc = read_state(s, &now);
    if (rc == SQLITE_OK && now.stamp != s->stamp) forget(s);
    return rc;
}

static int load(lite_store *s) {
    stored now;
    tamis *f;
    if (s->f) return SQLITE_OK;
    int rc = read_state(s, &now);
    if (rc == SQLITE_OK) rc = read_filter(s, &now, &f);
    if (rc == SQLITE_OK) keep(s, f, &now);
    return rc;
}

int lite_store_filter(lite_store *s, lite_filter **filter) {
    const int rc = load(s);
    *filter = &s->filter;
    return rc;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* Is the row there already, as it would be written? */
static int is_stored(lite_store *s, sqlite3_int64 id, const void *bytes, size_t size, bool *is) {
    sqlite3_stmt *statement;
    int rc = prepare(s, READ_ROW, &statement);
    *is = false;
    if (rc != SQLITE_OK) return rc;
    sqlite3_bind_int64(statement, 1, id);
    if (sqlite3_step(statement) == SQLITE_ROW &&
        (size_t)sqlite3_column_bytes(statement, 0) == size) {
        const void *before = sqlite3_column_blob(statement, 0);
        *is = before && memcmp(before, bytes, size) == 0;
    }
    rc = sqlite3_reset(statement);
    return rc == SQLITE_OK ? SQLITE_OK : of_sqlite(s, rc);
}

static int write_page(lite_store *s, const tamis *f, uint64_t at, uint64_t size, uint8_t *page) {
    const size_t len = size - at < PAGE ? (size_t)(size - at) : PAGE;
    const sqlite3_int64 id = 1 + (sqlite3_int64)(at / PAGE);
    bool is;
    int rc = check(s, tamis_serialize_at(f, at, page, len));
    if (rc == SQLITE_OK) rc = is_stored(s, id, page, len, &is);
    return rc != SQLITE_OK || is ? rc : write_row(s, id, page, len);
}

/* Writes the pages that changed; the journal is empty then. */
static int write_pages(lite_store *s, const tamis *f, stored *now) {
    uint8_t *page = sqlite3_malloc(PAGE);
    int rc = page ? SQLITE_OK : no_memory(s);
    now->size = tamis_image_size(f);
    now->rows = now->bytes = 0;
    for (uint64_t at = 0; rc == SQLITE_OK && at < now->size; at += PAGE)
        rc = write_page(s, f, at, now->size, page);
    sqlite3_free(page);
    if (rc == SQLITE_OK)
        rc = delete_rows(s, 1 + (sqlite3_int64)((now->size + PAGE - 1) / PAGE), INT64_MAX);
    return rc;
}

/* What waits began with room for a sum. */
static int write_journal(lite_store *s, stored *now) {
    const sqlite3_int64 id = JOURNAL + (sqlite3_int64)s->rows;
    put_number(s->pending, sum_of(id, s->pending + 8, s->used - 8), 8);
    now->size = s->size;
    now->rows = s->rows + 1;
    now->bytes = s->bytes + s->used;
    return write_row(s, id, s->pending, s->used);
}

static uint64_t max_journal(const lite_store *s) {
    const uint64_t share = tamis_image_size(s->f) / 8;
    const uint64_t limit = (uint64_t)sqlite3_limit(s->state->db, SQLITE_LIMIT_LENGTH, -1) / 2;
    const uint64_t bytes = share > MIN_JOURNAL ? share : MIN_JOURNAL;
    return bytes < limit ? bytes : limit;
}

int lite_store_flush(lite_store *s) {
    stored now = {.stamp = 0};
    if (!s->used && !s->is_bulk) return SQLITE_OK;
    sqlite3_randomness(sizeof now.stamp, &now.stamp);
    const bool has_room = !s->is_bulk && s->bytes + s->used <= max_journal(s);
    int rc = has_room ? write_journal(s, &now) : write_pages(s, s->f, &now);
    if (rc == SQLITE_OK) rc = write_state(s, &now);
    if (rc != SQLITE_OK) return rc;
    follow(s, &now);
    s->used = 0;
    s->is_bulk = false;
    return SQLITE_OK;
}

void lite_store_rollback(lite_store *s) {
    forget(s);
}

/* ---- Changing ------------------------------------------------------------------------------- */

/* Room for a change that is made next, so that it cannot fail then; NULL when pages will be written
 * instead of it. */
static int make_room(lite_store *s, size_t size) {
    const size_t needed = (s->used ? s->used : 8) + size;
    if (s->is_bulk || needed > max_journal(s)) {
        s->is_bulk = true;
        return SQLITE_OK;
    }
    if (needed <= s->room) return SQLITE_OK;
    const size_t room = needed < 512 ? 1024 : 2 * needed;
    uint8_t *more = sqlite3_realloc64(s->pending, room);
    if (!more) return no_memory(s);
    s->pending = more;
    s->room = room;
    return SQLITE_OK;
}

static void record(lite_store *s, enum change change, const void *bytes, size_t len) {
    if (s->is_bulk) return;
    if (!s->used) s->used = 8;
    uint8_t *at = s->pending + s->used;
    *at++ = (uint8_t)change;
    if (change != ADD_HASH && change != REMOVE_HASH) {
        put_number(at, len, 4);
        at += 4;
    }
    memcpy(at, bytes, len);
    s->used = (size_t)(at + len - s->pending);
}

static tamis_status apply(lite_store *s, const sql_key *key, bool is_added) {
    uint8_t bytes[8];
    if (s->abilities & (TAMIS_OWN_HASH | TAMIS_NO_EMPTY_KEY)) {
        const tamis_status rc = is_added ? tamis_add(s->f, key->bytes, key->len)
                                         : tamis_remove(s->f, key->bytes, key->len);
        if (!rc) record(s, is_added ? ADD_KEY : REMOVE_KEY, key->bytes, key->len);
        return rc;
    }
    const uint64_t hash = tamis_hash(s->f, key->bytes, key->len);
    const tamis_status rc = is_added ? tamis_add_hash(s->f, hash) : tamis_remove_hash(s->f, hash);
    put_number(bytes, hash, 8);
    if (!rc) record(s, is_added ? ADD_HASH : REMOVE_HASH, bytes, 8);
    return rc;
}

/* The first key of a filter decides its note. */
static tamis_status note_in(lite_store *s, const sql_form *form) {
    if (tamis_note(s->f, "encoding")) return TAMIS_OK;
    const tamis_status rc = sql_form_note_in(form, s->f);
    const char *note = tamis_note(s->f, "encoding");
    if (!rc && note) record(s, NOTE, note, strlen(note));
    memset(s->filter.is_known, 0, sizeof s->filter.is_known);
    return rc;
}

enum { NOTE_ROOM = 64 };

static int change(lite_store *s, sqlite3_value *value, const sql_key *key, bool is_added) {
    const int type = sqlite3_value_type(value);
    int rc = key->len > PAGE ? SQLITE_OK : make_room(s, key->len + 16 + NOTE_ROOM);
    if (rc != SQLITE_OK) return rc;
    if (key->len > PAGE) s->is_bulk = true;
    if (is_added) rc = check(s, note_in(s, &s->filter.form[type - 1]));
    return rc == SQLITE_OK ? check(s, apply(s, key, is_added)) : rc;
}

int lite_store_change(lite_store *s, sqlite3_value *value, bool is_added) {
    sql_key key;
    sql_why why;
    void *room;
    int rc = load(s);
    if (rc != SQLITE_OK) return rc;
    tamis_status status = lite_key_in(&s->filter, value, &key, &room, &why);
    if (status == TAMIS_NOMEM) return no_memory(s);
    if (!status && key.is_impossible) {
        sql_why_impossible(&why, s->f);
        status = TAMIS_INVALID;
    }
    if (status) {
        lite_message(s->why, &why);
        rc = SQLITE_ERROR;
    } else {
        rc = change(s, value, &key, is_added);
    }
    sqlite3_free(room);
    return rc;
}

/* Rare changes are no rows of the journal: pages are written. */
static int change_all(lite_store *s, tamis_status (*apply_to)(tamis *)) {
    int rc = load(s);
    if (rc == SQLITE_OK) rc = check(s, apply_to(s->f));
    if (rc == SQLITE_OK) s->is_bulk = true;
    return rc;
}

int lite_store_tick(lite_store *s) {
    return change_all(s, tamis_tick);
}

int lite_store_clear(lite_store *s) {
    return change_all(s, tamis_clear);
}

int lite_store_check(lite_store *s) {
    stored now;
    tamis *f;
    int rc = lite_store_flush(s);
    if (rc == SQLITE_OK) rc = read_state(s, &now);
    if (rc == SQLITE_OK) rc = read_filter(s, &now, &f);
    if (rc == SQLITE_OK) tamis_free(f);
    return rc;
}

/* ---- Tables --------------------------------------------------------------------------------- */

lite_store *lite_store_open(lite *state, const char *schema, const char *table) {
    lite_store *s = lite_new(sizeof *s);
    if (!s) return NULL;
    s->state = state;
    s->schema = sqlite3_mprintf("%s", schema);
    s->table = sqlite3_mprintf("%s", table);
    if (s->schema && s->table) return s;
    lite_store_close(s);
    return NULL;
}

void lite_store_close(lite_store *s) {
    if (!s) return;
    forget(s);
    finalize(s);
    sqlite3_free(s->pending);
    sqlite3_free(s->schema);
    sqlite3_free(s->table);
    sqlite3_free(s);
}

static int run(lite_store *s, char *sql) {
    if (!sql) return no_memory(s);
    const int rc = sqlite3_exec(s->state->db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK ? SQLITE_OK : of_sqlite(s, rc);
}

int lite_store_create(lite_store *s, const char *spec) {
    const struct tamis_options options = options_of(s);
    stored now = {.stamp = 0};
    tamis *f;
    int rc = check(s, tamis_create_with(&f, spec, &options));
    if (rc != SQLITE_OK) return rc;
    sqlite3_randomness(sizeof now.stamp, &now.stamp);
    rc = run(s,
             sqlite3_mprintf("CREATE TABLE \"%w\".\"%w_data\"(id INTEGER PRIMARY KEY, bytes BLOB)",
                             s->schema, s->table));
    if (rc == SQLITE_OK) rc = write_pages(s, f, &now);
    if (rc == SQLITE_OK) rc = write_state(s, &now);
    if (rc == SQLITE_OK)
        keep(s, f, &now);
    else
        tamis_free(f);
    return rc;
}

int lite_store_destroy(lite_store *s) {
    finalize(s);
    forget(s);
    return run(s, sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\".\"%w_data\"", s->schema, s->table));
}

int lite_store_rename(lite_store *s, const char *table) {
    char *name = sqlite3_mprintf("%s", table);
    if (!name) return no_memory(s);
    int rc = lite_store_flush(s);
    finalize(s);
    if (rc == SQLITE_OK)
        rc = run(s, sqlite3_mprintf("ALTER TABLE \"%w\".\"%w_data\" RENAME TO \"%w_data\"",
                                    s->schema, s->table, table));
    if (rc != SQLITE_OK) {
        sqlite3_free(name);
        return rc;
    }
    sqlite3_free(s->table);
    s->table = name;
    return SQLITE_OK;
}
