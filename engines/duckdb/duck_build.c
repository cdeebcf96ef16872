/* SPDX-License-Identifier: MIT */
/* The aggregate tamis_build, and tamis_build_list, which does the same with a list.
 *
 *     rows ──key──▶ filter               where the spec has a capacity, and order leaves no trace
 *               ──▶ list ──▶ builder     else, at the end: capacity is counted, and kinds that are
 *                                        built once are too
 *
 * Each thread has a state of its own, and they are combined at the end: filters are merged, and the
 * bytes are those of one thread. Combining leaves both as they were, because a window combines a
 * state with several others. So lists share their pieces, which are never changed. */
#include "engines/duckdb/duck.h"
#include "engines/duckdb/duck_states.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engines/sql/sql_specs.h"
#include "tamis_engine.h"

/* ---- Lists ---------------------------------------------------------------------------------- */

/* Bytes in pieces, each twice the one before up to 8 MiB. What is used of one is never written
 * again; only the list that made it appends to it. */
typedef struct piece {
    atomic_size_t holders;
    size_t room;
    char bytes[];
} piece;

typedef struct pieces {
    struct part {
        piece *piece;
        size_t used;
    } * part;
    size_t count, room;
    bool may_append; /* to its last piece */
} pieces;

enum { FIRST_PIECE = 128, MAX_PIECE = 8 << 20 };

static void drop_piece(piece *p) {
    if (atomic_fetch_sub_explicit(&p->holders, 1, memory_order_acq_rel) == 1) free(p);
}

static bool push(pieces *l, piece *p, size_t used) {
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 4;
        struct part *more = realloc(l->part, room * sizeof *more);
        if (!more) return false;
        l->part = more;
        l->room = room;
    }
    l->part[l->count++] = (struct part){.piece = p, .used = used};
    return true;
}

static void *take_room(pieces *l, size_t size) {
    struct part *last = l->count ? &l->part[l->count - 1] : NULL;
    if (!last || !l->may_append || last->piece->room - last->used < size) {
        size_t room = last ? last->piece->room * 2 : FIRST_PIECE;
        room = room > MAX_PIECE ? MAX_PIECE : room;
        room = room < size ? size : room;
        piece *p = malloc(sizeof *p + room);
        if (!p || !push(l, p, 0)) {
            free(p);
            return NULL;
        }
        atomic_init(&p->holders, 1);
        p->room = room;
        l->may_append = true;
        last = &l->part[l->count - 1];
    }
    last->used += size;
    return last->piece->bytes + last->used - size;
}

static bool share_pieces(pieces *into, const pieces *from) {
    for (size_t i = 0; i < from->count; i++) {
        if (!push(into, from->part[i].piece, from->part[i].used)) return false;
        atomic_fetch_add_explicit(&from->part[i].piece->holders, 1, memory_order_relaxed);
        into->may_append = false;
    }
    return true;
}

static void free_pieces(pieces *l) {
    for (size_t i = 0; i < l->count; i++) drop_piece(l->part[i].piece);
    free(l->part);
}

/* ---- Plans ---------------------------------------------------------------------------------- */

/* What is kept of a key. Numbers and hashes have 8 bytes, keys their length in 4 and their own. */
typedef enum keeping { NUMBERS, HASHES, KEYS } keeping;

/* A spec that was understood, shared by all groups that have it. */
typedef struct plan {
    struct plan *next;
    size_t holders;
    sql_demand demand;
    tamis_builder *hasher; /* takes no keys */
    char spec[];
} plan;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plan *plans;

static tamis_builder *open_builder(const char *spec, unsigned threads, sql_why *why) {
    struct tamis_builder_options options = TAMIS_BUILDER_OPTIONS_INIT;
    tamis_builder *b;
    options.filter = &duck_making;
    options.threads = threads;
    return duck_check(tamis_builder_create_with(&b, spec, &options), why) ? b : NULL;
}

/* Refuses what cannot work before the first key. */
static plan *make_plan(const char *spec, sql_why *why) {
    plan *p = calloc(1, sizeof *p + strlen(spec) + 1);
    if (!p) {
        duck_no_memory(why);
        return NULL;
    }
    strcpy(p->spec, spec);
    if (duck_check(sql_demand_of(spec, &p->demand), why) &&
        (p->hasher = open_builder(spec, 1, why)))
        return p;
    free(p);
    return NULL;
}

static plan *hold_plan(const char *spec, sql_why *why) {
    pthread_mutex_lock(&lock);
    plan *p = plans;
    while (p && strcmp(p->spec, spec) != 0) p = p->next;
    if (!p && (p = make_plan(spec, why))) {
        p->next = plans;
        plans = p;
    }
    if (p) p->holders++;
    pthread_mutex_unlock(&lock);
    return p;
}

static void drop_plan(plan *p) {
    pthread_mutex_lock(&lock);
    const bool is_gone = --p->holders == 0;
    plan **at = &plans;
    while (*at != p) at = &(*at)->next;
    if (is_gone) *at = p->next;
    pthread_mutex_unlock(&lock);
    if (!is_gone) return;
    tamis_builder_free(p->hasher);
    free(p);
}

/* ---- States --------------------------------------------------------------------------------- */

typedef struct state {
    plan *plan;
    const char *note;
    keeping keeping;
    unsigned threads; /* that have added to it */
    tamis *filter;    /* where keys go, ... */
    pieces keys;      /* ... or here */
} state;

static void free_state(state *s) {
    if (!s) return;
    tamis_free(s->filter);
    free_pieces(&s->keys);
    drop_plan(s->plan);
    free(s);
}

static keeping keeping_of(const sql_demand *demand, bool are_numbers) {
    if (demand->abilities & TAMIS_OWN_HASH) return KEYS;
    if (are_numbers) return NUMBERS;
    return demand->has_secret ? KEYS : HASHES;
}

static state *new_state(const char *spec, const char *note, bool are_numbers, sql_why *why) {
    state *s = calloc(1, sizeof *s);
    if (!s || !(s->plan = hold_plan(spec, why))) {
        if (!s) duck_no_memory(why);
        free(s);
        return NULL;
    }
    s->note = note;
    s->threads = 1;
    s->keeping = keeping_of(&s->plan->demand, are_numbers);
    if (!s->plan->demand.goes_straight) return s;
    if (duck_check(tamis_create_with(&s->filter, s->plan->spec, &duck_making), why) &&
        duck_check(tamis_set_note(s->filter, "encoding", note), why))
        return s;
    free_state(s);
    return NULL;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static bool keep_bytes(state *s, const void *bytes, size_t len) {
    const uint32_t size = (uint32_t)len;
    char *at = take_room(&s->keys, sizeof size + len);
    if (!at) return false;
    memcpy(at, &size, sizeof size);
    memcpy(at + sizeof size, bytes, len);
    return true;
}

static bool keep_whole(state *s, const duck_keys *keys, size_t from, size_t n) {
    for (size_t i = from; i < from + n; i++) {
        uint8_t bytes[8];
        for (unsigned b = 0; keys->numbers && b < 8; b++)
            bytes[b] = (uint8_t)(keys->numbers[i] >> 8 * b);
        if (!(keys->numbers ? keep_bytes(s, bytes, sizeof bytes)
                            : keep_bytes(s, keys->keys[i].bytes, keys->keys[i].len)))
            return false;
    }
    return true;
}

static bool keep(state *s, const duck_keys *keys, size_t from, size_t n, sql_why *why) {
    if (s->filter)
        return duck_check(keys->numbers ? tamis_add_u64s(s->filter, keys->numbers + from, n)
                                        : tamis_add_many(s->filter, keys->keys + from, n),
                          why);
    if (s->keeping == KEYS) return keep_whole(s, keys, from, n) || duck_no_memory(why);
    uint64_t *words = take_room(&s->keys, n * sizeof *words);
    if (!words) return duck_no_memory(why);
    if (s->keeping == NUMBERS)
        memcpy(words, keys->numbers + from, n * sizeof *words);
    else
        tamis_builder_hash_many(s->plan->hasher, keys->keys + from, n, words);
    return true;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

typedef struct rows {
    duck_column column, specs; /* specs: of type NULL when there are none */
    duck_form form;
    duck_keys keys;
    uint64_t count;
} rows;

static const char usual_spec[] = "blocked";

static bool is_same_text(const duck_string *s, const char *text) {
    return strlen(text) == s->len && memcmp(duck_bytes(s), text, s->len) == 0;
}

/* A group has one spec: in which order its rows come is nobody's choice. */
static bool check_spec(const rows *r, uint64_t row, const char *spec, sql_why *why) {
    const bool is_null = duck_is_null(&r->specs, row);
    if (is_null ? strcmp(spec, usual_spec) == 0 : is_same_text(&duck_strings(&r->specs)[row], spec))
        return true;
    return duck_fail(why, "rows of one group have several specs: \"%.100s\" and another", spec);
}

static bool open_group(const rows *r, uint64_t row, duck_state at, sql_why *why) {
    const bool is_null = duck_is_null(&r->specs, row);
    if (*at) return check_spec(r, row, ((state *)*at)->plan->spec, why);
    char *spec = is_null ? NULL : duck_text(&duck_strings(&r->specs)[row], "a spec", why);
    if (!is_null && !spec) return false;
    *at = new_state(spec ? spec : usual_spec, r->form.form.note, r->keys.numbers, why);
    free(spec);
    return *at;
}

static bool is_same_spec(const rows *r, uint64_t a, uint64_t b) {
    return r->specs.type == DUCK_NULL ||
           (duck_is_null(&r->specs, a) == duck_is_null(&r->specs, b) &&
            memcmp(&duck_strings(&r->specs)[a], &duck_strings(&r->specs)[b], sizeof(duck_string)) ==
                0);
}

/* Rows of one group and one spec, one after the other and without NULLs, are kept together. */
static bool keep_rows(const rows *r, const duck_state *states, sql_why *why) {
    uint64_t row = 0;
    while (row < r->count) {
        const uint64_t first = row;
        if (duck_is_null(&r->column, row++)) continue;
        while (row < r->count && states[row] == states[first] && !duck_is_null(&r->column, row) &&
               is_same_spec(r, first, row))
            row++;
        if (!open_group(r, first, states[first], why) ||
            !keep(*states[first], &r->keys, first, row - first, why))
            return false;
    }
    return true;
}

static bool add_rows(duck_chunk chunk, const duck_state *states, sql_why *why) {
    const bool has_spec = duck.data_chunk_get_column_count(chunk) > 1;
    duck_room room = {NULL};
    rows r = {.column = duck_open_argument(chunk, 0),
              .specs = {.type = DUCK_NULL},
              .count = duck.data_chunk_get_size(chunk)};
    if (has_spec) r.specs = duck_open_argument(chunk, 1);
    const bool is_good =
        duck_check_states(states, r.count, why) && duck_form_of(&r.form, &r.column, why) &&
        duck_read_keys(&r.keys, &r.form, &r.column, 0, r.count, &room, why) &&
        duck_check_possible(&r.keys, &r.column, 0, &r.form, why) && keep_rows(&r, states, why);
    duck_give_back(&room);
    duck_close_column(&r.specs);
    duck_close_column(&r.column);
    return is_good;
}

/* ---- The result ----------------------------------------------------------------------------- */

static bool add_whole(tamis_builder *b, const struct part *part, sql_why *why) {
    uint32_t len;
    for (size_t at = 0; at < part->used; at += sizeof len + len) {
        memcpy(&len, part->piece->bytes + at, sizeof len);
        if (!duck_check(tamis_builder_add(b, part->piece->bytes + at + sizeof len, len), why))
            return false;
    }
    return true;
}

static bool add_part(tamis_builder *b, const state *s, const struct part *part, sql_why *why) {
    const uint64_t *words = (const uint64_t *)(const void *)part->piece->bytes;
    const size_t n = part->used / sizeof *words;
    if (s->keeping == KEYS) return add_whole(b, part, why);
    return duck_check(s->keeping == NUMBERS ? tamis_builder_add_u64s(b, words, n)
                                            : tamis_builder_add_hashes(b, words, n),
                      why);
}

static bool put_built(const state *s, duck_vector out, uint64_t row, sql_why *why) {
    if (s->filter) return duck_put_image(out, row, s->filter, why);
    tamis_builder *b = open_builder(s->plan->spec, s->threads, why);
    tamis *f = NULL;
    bool is_good = b;
    for (size_t i = 0; is_good && i < s->keys.count; i++)
        is_good = add_part(b, s, &s->keys.part[i], why);
    is_good = is_good && duck_check(tamis_builder_set_note(b, "encoding", s->note), why) &&
              duck_check(tamis_builder_finish(b, &f), why) && duck_put_image(out, row, f, why);
    tamis_free(f);
    tamis_builder_free(b);
    return is_good;
}

/* ---- Several threads ------------------------------------------------------------------------ */

static bool combine_states(const state *from, duck_state at, sql_why *why) {
    state *into = *at;
    if (!into) {
        into = *at = new_state(from->plan->spec, from->note, from->keeping == NUMBERS, why);
        if (!into) return false;
        into->threads = 0;
    }
    into->threads += from->threads;
    if (into->plan != from->plan)
        return duck_fail(why, "rows of one group have several specs: \"%.100s\" and \"%.100s\"",
                         into->plan->spec, from->plan->spec);
    if (into->filter) return duck_check(tamis_merge(into->filter, from->filter), why);
    return share_pieces(&into->keys, &from->keys) || duck_no_memory(why);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static uint64_t size_of_state(duck_info info) {
    (void)info;
    return sizeof(void *);
}

static void init(duck_info info, duck_state s) {
    (void)info;
    *s = NULL;
}

static void update(duck_info info, duck_chunk chunk, duck_state *states) {
    sql_why why = {.sentence = ""};
    if (!add_rows(chunk, states, &why)) duck_raise(info, &why);
}

static void combine(duck_info info, duck_state *from, duck_state *into, uint64_t count) {
    sql_why why = {.sentence = ""};
    for (uint64_t i = 0; i < count; i++)
        if (*from[i] && !combine_states(*from[i], into[i], &why)) {
            duck_raise(info, &why);
            return;
        }
}

static void finalize(duck_info info, duck_state *states, duck_vector out, uint64_t count,
                     uint64_t offset) {
    sql_why why = {.sentence = ""};
    for (uint64_t i = 0; i < count; i++) {
        if (!*states[i]) {
            duck_put_null(out, offset + i);
        } else if (!put_built(*states[i], out, offset + i, &why)) {
            duck_raise(info, &why);
            return;
        }
    }
}

/* States that no row reached may be missing. */
static void destroy(duck_state *states, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (!states[i]) continue;
        free_state(*states[i]);
        *states[i] = NULL;
    }
}

/* ---- Lists of keys -------------------------------------------------------------------------- */

/* The state of the keys of a list; NULL without a sentence when there are none. */
static bool keep_list(const rows *r, duck_list list, uint64_t row, duck_state at, sql_why *why) {
    uint64_t i = 0;
    while (i < list.length) {
        const uint64_t first = i;
        if (duck_is_null(&r->column, list.offset + i++)) continue;
        while (i < list.length && !duck_is_null(&r->column, list.offset + i)) i++;
        if (!open_group(r, row, at, why) || !keep(*at, &r->keys, first, i - first, why))
            return false;
    }
    return true;
}

static bool build_list(rows *r, duck_list list, uint64_t row, duck_vector out, sql_why *why) {
    duck_room room = {NULL};
    void *s = NULL;
    bool is_good = duck_read_keys(&r->keys, &r->form, &r->column, list.offset,
                                  list.offset + list.length, &room, why) &&
                   duck_check_possible(&r->keys, &r->column, list.offset, &r->form, why) &&
                   keep_list(r, list, row, &s, why);
    if (is_good && s)
        is_good = put_built(s, out, row, why);
    else if (is_good)
        duck_put_null(out, row);
    free_state(s);
    duck_give_back(&room);
    return is_good;
}

static bool build_rows(rows *r, const duck_column *lists, duck_vector out, sql_why *why) {
    const duck_list *list = (const duck_list *)lists->data;
    if (r->specs.type != DUCK_VARCHAR && r->specs.type != DUCK_NULL)
        return duck_fail(why, "a spec is a VARCHAR");
    if (!duck_form_of(&r->form, &r->column, why)) return false;
    for (uint64_t row = 0; row < r->count; row++) {
        if (duck_is_null(lists, row))
            duck_put_null(out, row);
        else if (!build_list(r, list[row], row, out, why))
            return false;
    }
    return true;
}

static bool build_lists(duck_chunk chunk, duck_vector out, sql_why *why) {
    const bool has_spec = duck.data_chunk_get_column_count(chunk) > 1;
    duck_column lists = duck_open_argument(chunk, 0);
    rows r = {.column = {.type = DUCK_NULL},
              .specs = {.type = DUCK_NULL},
              .count = duck.data_chunk_get_size(chunk)};
    if (has_spec) r.specs = duck_open_argument(chunk, 1);
    if (lists.type == DUCK_LIST)
        r.column = duck_open_column(duck.list_vector_get_child(lists.vector));
    const bool is_good = (lists.type == DUCK_LIST || lists.type == DUCK_NULL ||
                          duck_fail(why, "the first argument is a list of keys")) &&
                         build_rows(&r, &lists, out, why);
    duck_close_column(&r.column);
    duck_close_column(&r.specs);
    duck_close_column(&lists);
    return is_good;
}

DUCK_CALL(build_lists)

/* ---- Functions ------------------------------------------------------------------------------ */

bool duck_register_build(duck_connection connection) {
    static const duck_aggregation build = {.name = "tamis_build",
                                           .key = DUCK_ANY,
                                           .has_spec = true,
                                           .size = size_of_state,
                                           .init = init,
                                           .update = update,
                                           .combine = combine,
                                           .finalize = finalize,
                                           .destroy = destroy};
    static const duck_function lists = {.name = "tamis_build_list",
                                        .call = call_build_lists,
                                        .result = duck_type_blob,
                                        .min_arguments = 1,
                                        .max_arguments = 2};
    return duck_register_aggregate(connection, &build) &&
           duck_register_scalars(connection, &lists, 1);
}
