/* SPDX-License-Identifier: MIT */
/* Aggregates: tamis_build of keys, of keys with a value or a label, and tamis_merge of images.
 *
 *     rows ──key──▶ number or hash, 512 at a time ──▶ filter     where the spec has a capacity and
 *                                                                order leaves no trace
 *                                                 ──▶ builder    else: capacity is counted, and
 *                                                                kinds that are built once are too
 *                                                                (and keys as they are, of kinds
 *                                                                that hash them themselves)
 *
 * A filter forgets nothing, so no frame of a window can move: SQLite refuses these functions with
 * OVER. */
#include "engines/sqlite/lite.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* ---- A group -------------------------------------------------------------------------------- */

enum { WAITING = 512 };

/* What is kept of a key. */
typedef enum keeping { NUMBERS, HASHES, KEYS } keeping;

typedef struct group {
    tamis *filter;        /* where keys go ... */
    tamis_builder *maker; /* ... or here */
    sql_form form;
    int type; /* the storage class of the first key */
    keeping keeping;
    unsigned waits;
    uint64_t waiting[WAITING];
} group;

static void free_group(group *g) {
    if (!g) return;
    tamis_free(g->filter);
    tamis_builder_free(g->maker);
    sqlite3_free(g);
}

/* SQLite keeps a pointer for each group; after an error it is freed and rows that follow are not
 * looked at. */
typedef struct slot {
    group *group;
    bool has_failed;
} slot;

static void fail_group(slot *s) {
    free_group(s->group);
    s->group = NULL;
    s->has_failed = true;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static tamis_status open_maker(const lite *l, group *g, const char *spec) {
    const struct tamis_options options = lite_limit(l);
    struct tamis_builder_options how = TAMIS_BUILDER_OPTIONS_INIT;
    how.filter = &options;
    tamis_status rc = tamis_builder_create_with(&g->maker, spec, &how);
    if (!rc) rc = tamis_builder_set_note(g->maker, "encoding", g->form.note);
    return rc;
}

static tamis_status open_filter(const lite *l, group *g, const char *spec) {
    const struct tamis_options options = lite_limit(l);
    tamis_status rc = tamis_create_with(&g->filter, spec, &options);
    if (!rc) rc = tamis_set_note(g->filter, "encoding", g->form.note);
    return rc;
}

/* The first key of a group decides its class, and the spec of its row is the group's. Pairs go to a
 * builder in any case. */
static tamis_status open_group(const lite *l, group *g, const char *spec, int type, bool is_pairs) {
    sql_demand demand;
    tamis_status rc = sql_demand_of(spec, &demand);
    if (rc) return rc;
    lite_form_of(&g->form, type);
    g->type = type;
    g->keeping = demand.abilities & TAMIS_OWN_HASH ? KEYS
                 : sql_form_is_number(&g->form)    ? NUMBERS
                                                   : HASHES;
    return demand.goes_straight && !is_pairs ? open_filter(l, g, spec) : open_maker(l, g, spec);
}

static group *new_group(sqlite3_context *ctx, sqlite3_value *spec_value, const char *usual,
                        int type, bool is_pairs) {
    const bool has_spec = spec_value && sqlite3_value_type(spec_value) != SQLITE_NULL;
    const char *spec = has_spec ? lite_text(ctx, spec_value, "a spec") : usual;
    group *g = spec ? lite_new(sizeof *g) : NULL;
    if (spec && !g) sqlite3_result_error_nomem(ctx);
    if (!g) return NULL;
    if (lite_check(ctx, open_group(lite_of(ctx), g, spec, type, is_pairs))) return g;
    free_group(g);
    return NULL;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static tamis_status flush(group *g) {
    const bool are_numbers = g->keeping == NUMBERS;
    const size_t n = g->waits;
    g->waits = 0;
    if (n == 0) return TAMIS_OK;
    if (g->filter)
        return are_numbers ? tamis_add_u64s(g->filter, g->waiting, n)
                           : tamis_add_hashes(g->filter, g->waiting, n);
    return are_numbers ? tamis_builder_add_u64s(g->maker, g->waiting, n)
                       : tamis_builder_add_hashes(g->maker, g->waiting, n);
}

static uint64_t hash_of(const group *g, const sql_key *key) {
    return g->filter ? tamis_hash(g->filter, key->bytes, key->len)
                     : tamis_builder_hash(g->maker, key->bytes, key->len);
}

static tamis_status keep(group *g, const sql_key *key) {
    if (g->keeping == KEYS) return tamis_builder_add(g->maker, key->bytes, key->len);
    g->waiting[g->waits++] = g->keeping == NUMBERS ? key->number : hash_of(g, key);
    return g->waits == WAITING ? flush(g) : TAMIS_OK;
}

static bool is_number(int type) {
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void refuse_class(sqlite3_context *ctx, const group *g, int type) {
    char sentence[LITE_MESSAGE / 2];
    const bool are_numbers = is_number(g->type) && is_number(type);
    snprintf(sentence, sizeof sentence,
             are_numbers
                 ? "keys of one filter are of one class: the first is %s, and another is %s "
                   "that is none: build it of CAST(key AS REAL)"
                 : "keys of one filter are of one class: the first is %s, and another is "
                   "%s: build it of CAST(key AS TEXT), say",
             lite_class_name(g->type), lite_class_name(type));
    lite_refuse(ctx, sentence);
}

/* The key of a row, in the class of its group; false after an error. */
static bool read_key(sqlite3_context *ctx, const group *g, sqlite3_value *value, sql_key *key,
                     void **room) {
    const int type = sqlite3_value_type(value);
    sql_why why;
    const bool fits = type == g->type || (is_number(type) && is_number(g->type));
    *room = NULL;
    if (fits) {
        const tamis_status rc = lite_key_by(&g->form, value, key, room, &why);
        if (rc) lite_fail(ctx, rc, &why);
        if (rc) return false;
    }
    if (fits && !key->is_impossible) return true;
    refuse_class(ctx, g, type);
    return false;
}

/* ---- tamis_build(key [, spec]) -------------------------------------------------------------- */

static void build_row(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    const int type = sqlite3_value_type(argv[0]);
    sql_key key;
    void *room;
    if (type == SQLITE_NULL) return;
    slot *s = sqlite3_aggregate_context(ctx, sizeof *s);
    if (!s) sqlite3_result_error_nomem(ctx);
    if (!s || s->has_failed) return;
    if (!s->group) s->group = new_group(ctx, argc > 1 ? argv[1] : NULL, "blocked", type, false);
    if (s->group && read_key(ctx, s->group, argv[0], &key, &room)) {
        const tamis_status rc = keep(s->group, &key);
        sqlite3_free(room);
        if (lite_check(ctx, rc)) return;
    }
    fail_group(s);
}

static bool finish(sqlite3_context *ctx, group *g) {
    if (!lite_check(ctx, flush(g))) return false;
    return g->filter || lite_check(ctx, tamis_builder_finish(g->maker, &g->filter));
}

static void build_end(sqlite3_context *ctx) {
    slot *s = sqlite3_aggregate_context(ctx, 0);
    if (!s || !s->group) return;
    if (finish(ctx, s->group)) lite_result_image(ctx, s->group->filter);
    free_group(s->group);
    s->group = NULL;
}

/* ---- tamis_build_map(key, value [, spec]), tamis_build_labels(key, label [, spec]) ----------- */

typedef tamis_status take_fn(group *, const sql_key *, sqlite3_value *);

static tamis_status put(group *g, const sql_key *key, sqlite3_value *value) {
    return tamis_builder_put(g->maker, key->bytes, key->len, (uint64_t)sqlite3_value_int64(value));
}

static tamis_status label(group *g, const sql_key *key, sqlite3_value *value) {
    const tamis_status rc = tamis_builder_label(g->maker, (const char *)sqlite3_value_text(value));
    return rc ? rc : tamis_builder_add(g->maker, key->bytes, key->len);
}

/* What a key gets is of one class. */
static bool check_pair(sqlite3_context *ctx, sqlite3_value *with, int class) {
    if (class == SQLITE_TEXT) return lite_text(ctx, with, "the label of a key");
    if (sqlite3_value_type(with) == class) return true;
    lite_refuse(ctx, "the value of a key is an INTEGER");
    return false;
}

/* False after an error. */
static bool take_pair(sqlite3_context *ctx, group *g, sqlite3_value **argv, take_fn *take) {
    sql_key key;
    void *room;
    if (!read_key(ctx, g, argv[0], &key, &room)) return false;
    const tamis_status rc = take(g, &key, argv[1]);
    sqlite3_free(room);
    return lite_check(ctx, rc);
}

static void pair_row(sqlite3_context *ctx, int argc, sqlite3_value **argv, const char *usual,
                     int class, take_fn *take) {
    const int type = sqlite3_value_type(argv[0]);
    if (type == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL) return;
    slot *s = sqlite3_aggregate_context(ctx, sizeof *s);
    if (!s) sqlite3_result_error_nomem(ctx);
    if (!s || s->has_failed) return;
    const bool is_pair = check_pair(ctx, argv[1], class);
    if (is_pair && !s->group)
        s->group = new_group(ctx, argc > 2 ? argv[2] : NULL, usual, type, true);
    if (!is_pair || !s->group || !take_pair(ctx, s->group, argv, take)) fail_group(s);
}

static void map_row(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    pair_row(ctx, argc, argv, "bloomier", SQLITE_INTEGER, put);
}

static void label_row(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    pair_row(ctx, argc, argv, "labels", SQLITE_TEXT, label);
}

/* ---- tamis_merge(image) --------------------------------------------------------------------- */

/* The union so far: a filter of its own. */
typedef struct merged {
    tamis *filter;
    bool has_failed;
} merged;

static bool merge(sqlite3_context *ctx, tamis *into, const tamis *from) {
    sql_why why;
    const tamis_status rc = sql_forms_match(into, from, &why);
    if (rc) lite_fail(ctx, rc, &why);
    return !rc && lite_check(ctx, tamis_merge(into, from)) &&
           lite_check(ctx, sql_take_note(into, from));
}

/* Takes the filter. */
static bool take_filter(sqlite3_context *ctx, merged *m, tamis *from) {
    if (!m->filter) {
        m->filter = from;
        return true;
    }
    const bool is_done = merge(ctx, m->filter, from);
    tamis_free(from);
    return is_done;
}

static void merge_row(sqlite3_context *ctx, int argc, sqlite3_value **argv) {
    (void)argc;
    const bool is_null =
        sqlite3_value_type(argv[0]) == SQLITE_NULL && !sqlite3_value_pointer(argv[0], "tamis");
    merged *m = is_null ? NULL : sqlite3_aggregate_context(ctx, sizeof *m);
    if (!is_null && !m) sqlite3_result_error_nomem(ctx);
    if (!m || m->has_failed) return;
    tamis *from = lite_to_change(ctx, argv[0]);
    if (from && take_filter(ctx, m, from)) return;
    m->has_failed = true;
    tamis_free(m->filter);
    m->filter = NULL;
}

static void merge_end(sqlite3_context *ctx) {
    merged *m = sqlite3_aggregate_context(ctx, 0);
    if (!m || !m->filter) return;
    lite_result_filter(ctx, m->filter);
    m->filter = NULL;
}

int lite_register_builds(lite *l) {
    static const struct {
        const char *name;
        int args;
        lite_function *step;
        void (*end)(sqlite3_context *);
    } aggregates[] = {
        {"tamis_build", 1, build_row, build_end},
        {"tamis_build", 2, build_row, build_end},
        {"tamis_build_map", 2, map_row, build_end},
        {"tamis_build_map", 3, map_row, build_end},
        {"tamis_build_labels", 2, label_row, build_end},
        {"tamis_build_labels", 3, label_row, build_end},
        {"tamis_merge", 1, merge_row, merge_end},
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates && rc == SQLITE_OK; i++)
        rc = lite_register_aggregate(l, aggregates[i].name, aggregates[i].args, aggregates[i].step,
                                     aggregates[i].end);
    return rc;
}
