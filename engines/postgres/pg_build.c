/* SPDX-License-Identifier: MIT */
/* Aggregates: tamis_build of keys, tamis_union of filters.
 *
 *     rows ──key──▶ number or hash, 512 at a time ──▶ filter     where the spec has a capacity and
 *                                                                order leaves no trace
 *                                                 ──▶ builder    else: capacity is counted, and
 *                                                                kinds that are built once are too
 *                   and bytes, of kinds that hash ──▶ list       where others take over the state:
 *                   keys themselves                              a parallel worker, a window
 *
 * A list goes to a builder at the end. Filters of workers are merged and lists are joined: the
 * bytes are those of one process. */
#include "engines/postgres/pg.h"

#include <catalog/pg_type.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <nodes/execnodes.h>
#include <utils/builtins.h>
#include <utils/memutils.h>

#include <string.h>

#include "engines/sql/sql_specs.h"

/* ---- Lists ---------------------------------------------------------------------------------- */

/* Bytes in pieces, each twice the one before up to 8 MiB: nothing is copied as they grow. */
typedef struct piece {
    struct piece *next;
    size_t used, room;
    char bytes[FLEXIBLE_ARRAY_MEMBER];
} piece;

typedef struct list {
    piece *first, *last;
    uint64_t size;
} list;

enum { FIRST_PIECE = 1 << 10, MAX_PIECE = 8 << 20 };

static void *list_room(list *l, MemoryContext context, size_t size) {
    if (!l->last || l->last->room - l->last->used < size) {
        size_t room = l->last ? Min(l->last->room * 2, MAX_PIECE) : FIRST_PIECE;
        room = Max(room, size);
        piece *p = MemoryContextAllocHuge(context, offsetof(piece, bytes) + room);
        *p = (piece){.room = room};
        *(l->last ? &l->last->next : &l->first) = p;
        l->last = p;
    }
    void *at = l->last->bytes + l->last->used;
    l->last->used += size;
    l->size += size;
    return at;
}

/* ---- States --------------------------------------------------------------------------------- */

/* What is kept of a key. Numbers and hashes have 8 bytes, keys their length in 4 and their own. */
typedef enum keeping { NUMBERS, HASHES, KEYS } keeping;

enum { WAITING = 512 };

typedef struct state {
    MemoryContext context;
    char *spec;
    char *note;
    keeping keeping;
    tamis *filter;        /* where keys go, ... */
    tamis_builder *maker; /* ... or here, if nobody else takes over; it hashes in any case */
    bool is_listed;       /* ... or to the list */
    list keys;
    uint64_t waiting[WAITING];
    unsigned waits;
} state;

/* What holds more than memory, where the context ends. */
static void end_builder(void *builder) {
    tamis_builder_free(builder);
}

static tamis_builder *open_builder(const char *spec, MemoryContext context) {
    MemoryContextCallback *end = MemoryContextAllocZero(context, sizeof *end);
    pg_room *room = MemoryContextAlloc(context, sizeof *room);
    struct tamis_builder_options options = TAMIS_BUILDER_OPTIONS_INIT;
    tamis_builder *b;
    pg_make_in(room, context);
    options.filter = &room->options;
    pg_check(tamis_builder_create_with(&b, spec, &options));
    end->func = end_builder;
    end->arg = b;
    MemoryContextRegisterResetCallback(context, end);
    return b;
}

static sql_demand demand_of(const char *spec) {
    sql_demand demand;
    pg_check(sql_demand_of(spec, &demand));
    return demand;
}

static keeping keeping_of(const sql_demand *demand, bool is_number, bool is_listed) {
    if (demand->abilities & TAMIS_OWN_HASH) return KEYS;
    if (is_number) return NUMBERS;
    return is_listed && demand->has_secret ? KEYS : HASHES;
}

static void make_filter(state *s) {
    pg_room room;
    pg_make_in(&room, s->context);
    pg_check(tamis_create_with(&s->filter, s->spec, &room.options));
    pg_check(tamis_set_note(s->filter, "encoding", s->note));
}

static state *open_state(MemoryContext context, const char *spec, const char *note, bool is_number,
                         bool is_listed) {
    const sql_demand demand = demand_of(spec);
    state *s = MemoryContextAllocZero(context, sizeof *s);
    s->context = context;
    s->spec = MemoryContextStrdup(context, spec);
    s->note = MemoryContextStrdup(context, note);
    s->keeping = keeping_of(&demand, is_number, is_listed);
    s->is_listed = is_listed;
    s->maker = open_builder(spec, context); /* refuses what cannot work */
    if (demand.goes_straight) make_filter(s);
    return s;
}

static void flush(state *s) {
    const bool are_numbers = s->keeping == NUMBERS;
    tamis_status rc = TAMIS_OK;
    if (s->waits == 0) return;
    if (s->filter)
        rc = are_numbers ? tamis_add_u64s(s->filter, s->waiting, s->waits)
                         : tamis_add_hashes(s->filter, s->waiting, s->waits);
    else if (!s->is_listed)
        rc = are_numbers ? tamis_builder_add_u64s(s->maker, s->waiting, s->waits)
                         : tamis_builder_add_hashes(s->maker, s->waiting, s->waits);
    else
        memcpy(list_room(&s->keys, s->context, s->waits * sizeof *s->waiting), s->waiting,
               s->waits * sizeof *s->waiting);
    pg_check(rc);
    s->waits = 0;
}

static void keep_bytes(state *s, const void *bytes, size_t len) {
    const uint32 size = (uint32)len;
    if (!s->is_listed) {
        pg_check(tamis_builder_add(s->maker, bytes, len));
        return;
    }
    char *at = list_room(&s->keys, s->context, sizeof size + len);
    memcpy(at, &size, sizeof size);
    memcpy(at + sizeof size, bytes, len);
}

static void wait_for_more(state *s, uint64_t number_or_hash) {
    s->waiting[s->waits++] = number_or_hash;
    if (s->waits == WAITING) flush(s);
}

static void keep(state *s, const pg_form *form, Datum datum) {
    sql_key key;
    if (s->keeping == NUMBERS) {
        wait_for_more(s, pg_number_of(form, datum));
        return;
    }
    pg_key_of(form, datum, &key);
    if (s->keeping == KEYS)
        keep_bytes(s, key.bytes, key.len);
    else
        wait_for_more(s, tamis_builder_hash(s->maker, key.bytes, key.len));
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The form of keys is kept with the call site, the rest with the group. */
static const pg_form *form_of(FunctionCallInfo fcinfo) {
    FmgrInfo *site = fcinfo->flinfo;
    if (!site->fn_extra)
        site->fn_extra =
            pg_form_of_type(get_fn_expr_argtype(site, 1), PG_GET_COLLATION(), site->fn_mcxt);
    return site->fn_extra;
}

static MemoryContext group_of(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        elog(ERROR, "tamis: this function is a part of an aggregate");
    return context;
}

/* A context of its own, so that what a group holds goes with it. */
static MemoryContext new_group(FunctionCallInfo fcinfo) {
    return AllocSetContextCreate(group_of(fcinfo), "tamis group", ALLOCSET_DEFAULT_SIZES);
}

/* Does somebody else take this state over: does it leave the process, or is it asked again? */
static bool is_passed_on(FunctionCallInfo fcinfo) {
    return !IsA(fcinfo->context, AggState) ||
           DO_AGGSPLIT_SKIPFINAL(((AggState *)fcinfo->context)->aggsplit);
}

PG_FUNCTION_INFO_V1(pg_tamis_build_row);
Datum pg_tamis_build_row(PG_FUNCTION_ARGS) {
    state *s = PG_ARGISNULL(0) ? NULL : (state *)PG_GETARG_POINTER(0);
    if (PG_ARGISNULL(1)) {
        if (!s) PG_RETURN_NULL();
        PG_RETURN_POINTER(s);
    }
    const pg_form *form = form_of(fcinfo);
    if (!s) {
        const bool has_spec = PG_NARGS() > 2 && !PG_ARGISNULL(2);
        s = open_state(new_group(fcinfo), pg_spec(has_spec ? PG_GETARG_TEXT_PP(2) : NULL),
                       pg_form_note(form), pg_form_is_number(form), is_passed_on(fcinfo));
    }
    keep(s, form, PG_GETARG_DATUM(1));
    PG_RETURN_POINTER(s);
}

/* ---- The result ----------------------------------------------------------------------------- */

static void add_words(tamis_builder *b, const state *s, const piece *p) {
    const uint64_t *words = (const uint64_t *)(const void *)p->bytes;
    const size_t n = p->used / sizeof *words;
    pg_check(s->keeping == NUMBERS ? tamis_builder_add_u64s(b, words, n)
                                   : tamis_builder_add_hashes(b, words, n));
}

static void add_keys(tamis_builder *b, const piece *p) {
    uint32 len;
    for (size_t at = 0; at < p->used; at += sizeof len + len) {
        memcpy(&len, p->bytes + at, sizeof len);
        pg_check(tamis_builder_add(b, p->bytes + at + sizeof len, len));
    }
}

/* The list stays, because a window asks again. */
static tamis *built_of_list(const state *s, MemoryContext context) {
    tamis_builder *b = open_builder(s->spec, context);
    tamis *f;
    for (const piece *p = s->keys.first; p; p = p->next) {
        if (s->keeping == KEYS)
            add_keys(b, p);
        else
            add_words(b, s, p);
        CHECK_FOR_INTERRUPTS();
    }
    pg_check(tamis_builder_set_note(b, "encoding", s->note));
    pg_check(tamis_builder_finish(b, &f));
    return f;
}

static Datum end_list(const state *s) {
    MemoryContext work =
        AllocSetContextCreate(CurrentMemoryContext, "tamis build", ALLOCSET_DEFAULT_SIZES);
    struct varlena *value = pg_value_of(built_of_list(s, work));
    MemoryContextDelete(work);
    PG_RETURN_POINTER(value);
}

/* A group may be asked again after its last row: a builder is not, so its filter stays. */
PG_FUNCTION_INFO_V1(pg_tamis_build_end);
Datum pg_tamis_build_end(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    state *s = (state *)PG_GETARG_POINTER(0);
    flush(s);
    if (s->is_listed && !s->filter) return end_list(s);
    if (!s->filter) {
        pg_check(tamis_builder_set_note(s->maker, "encoding", s->note));
        pg_check(tamis_builder_finish(s->maker, &s->filter));
    }
    PG_RETURN_POINTER(pg_value_of(s->filter));
}

/* ---- Several processes ---------------------------------------------------------------------- */

static void join_lists(state *into, const state *from) {
    for (const piece *p = from->keys.first; p; p = p->next)
        if (p->used) memcpy(list_room(&into->keys, into->context, p->used), p->bytes, p->used);
}

PG_FUNCTION_INFO_V1(pg_tamis_build_join);
Datum pg_tamis_build_join(PG_FUNCTION_ARGS) {
    state *into = PG_ARGISNULL(0) ? NULL : (state *)PG_GETARG_POINTER(0);
    state *from = PG_ARGISNULL(1) ? NULL : (state *)PG_GETARG_POINTER(1);
    if (!from) {
        if (!into) PG_RETURN_NULL();
        PG_RETURN_POINTER(into);
    }
    const bool has_numbers = from->keeping == NUMBERS;
    if (!into) into = open_state(new_group(fcinfo), from->spec, from->note, has_numbers, true);
    flush(into);
    flush(from);
    if (into->filter)
        pg_check(tamis_merge(into->filter, from->filter));
    else
        join_lists(into, from);
    PG_RETURN_POINTER(into);
}

/* A state as bytes: whether it keeps numbers, spec, note, then an image or a list. It stays on this
 * machine. */
static void put_text(char **at, const char *text) {
    const size_t size = strlen(text) + 1;
    memcpy(*at, text, size);
    *at += size;
}

static bytea *state_room(uint64_t size) {
    if (size > MaxAllocSize - VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("tamis: a parallel worker has more keys than it can hand over, "
                               "which is 1 GB of them"),
                        errhint("Give the spec a capacity, or SET "
                                "max_parallel_workers_per_gather = 0.")));
    bytea *bytes = palloc(size + VARHDRSZ);
    SET_VARSIZE(bytes, size + VARHDRSZ);
    return bytes;
}

PG_FUNCTION_INFO_V1(pg_tamis_build_out);
Datum pg_tamis_build_out(PG_FUNCTION_ARGS) {
    state *s = (state *)PG_GETARG_POINTER(0);
    flush(s);
    const uint64_t rest = s->filter ? tamis_image_size(s->filter) : s->keys.size;
    bytea *bytes = state_room(strlen(s->spec) + strlen(s->note) + 3 + rest);
    char *at = VARDATA(bytes);
    *at++ = s->keeping == NUMBERS;
    put_text(&at, s->spec);
    put_text(&at, s->note);
    if (s->filter)
        pg_check(tamis_serialize(s->filter, at, rest));
    else
        for (const piece *p = s->keys.first; p; at += p->used, p = p->next)
            memcpy(at, p->bytes, p->used);
    PG_RETURN_BYTEA_P(bytes);
}

PG_FUNCTION_INFO_V1(pg_tamis_build_in);
Datum pg_tamis_build_in(PG_FUNCTION_ARGS) {
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    const char *at = VARDATA_ANY(bytes), *const end = at + VARSIZE_ANY_EXHDR(bytes);
    const bool has_numbers = *at++;
    const char *spec = at, *note = spec + strlen(spec) + 1;
    at = note + strlen(note) + 1;
    /* Only as long as the row with it: it is joined to another one. */
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "tamis group", ALLOCSET_DEFAULT_SIZES);
    state *s = open_state(context, spec, note, has_numbers, true);
    const size_t rest = (size_t)(end - at);
    if (s->filter) {
        pg_room room;
        tamis_free(s->filter);
        pg_load_in(&room, s->context);
        pg_check(tamis_load_with(&s->filter, at, rest, &room.options));
    } else if (rest) {
        memcpy(list_room(&s->keys, s->context, rest), at, rest);
    }
    PG_RETURN_POINTER(s);
}

/* ---- Maps and labels ------------------------------------------------------------------------ */

/* Keys with something: they go to the builder at once, in one process. */
static state *pairs_of(FunctionCallInfo fcinfo, const char *usual) {
    const bool has_spec = PG_NARGS() > 3 && !PG_ARGISNULL(3);
    const pg_form *form = form_of(fcinfo);
    return open_state(new_group(fcinfo),
                      pg_spec(has_spec ? PG_GETARG_TEXT_PP(3) : cstring_to_text(usual)),
                      pg_form_note(form), pg_form_is_number(form), false);
}

static uint64_t hash_of(const state *s, const sql_key *key) {
    return tamis_builder_hash(s->maker, key->bytes, key->len);
}

/* The state of a row that has all of its parts, and its key; NULL for other rows. */
static state *pair(FunctionCallInfo fcinfo, const char *usual, state **now, sql_key *key) {
    *now = PG_ARGISNULL(0) ? NULL : (state *)PG_GETARG_POINTER(0);
    (void)group_of(fcinfo);
    if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) return NULL;
    if (!*now) *now = pairs_of(fcinfo, usual);
    pg_key_of(form_of(fcinfo), PG_GETARG_DATUM(1), key);
    return *now;
}

static Datum state_datum(FunctionCallInfo fcinfo, state *s) {
    if (!s) PG_RETURN_NULL();
    PG_RETURN_POINTER(s);
}

PG_FUNCTION_INFO_V1(pg_tamis_map_row);
Datum pg_tamis_map_row(PG_FUNCTION_ARGS) {
    sql_key key;
    state *now, *s = pair(fcinfo, "bloomier", &now, &key);
    if (s)
        pg_check(tamis_builder_put_hash(s->maker, hash_of(s, &key), (uint64_t)PG_GETARG_INT64(2)));
    return state_datum(fcinfo, now);
}

PG_FUNCTION_INFO_V1(pg_tamis_label_row);
Datum pg_tamis_label_row(PG_FUNCTION_ARGS) {
    sql_key key;
    state *now, *s = pair(fcinfo, "labels", &now, &key);
    if (s) {
        char *label = text_to_cstring(PG_GETARG_TEXT_PP(2));
        label = pg_server_to_any(label, (int)strlen(label), PG_UTF8);
        pg_check(tamis_builder_label(s->maker, label));
        pg_check(tamis_builder_add_hash(s->maker, hash_of(s, &key)));
    }
    return state_datum(fcinfo, now);
}

/* ---- Unions --------------------------------------------------------------------------------- */

/* The state is a filter in a context of the group. */
static tamis *joined(FunctionCallInfo fcinfo, tamis *into, const tamis *from) {
    if (into) {
        pg_join(into, from, tamis_merge);
        return into;
    }
    pg_room room;
    pg_load_in(&room, new_group(fcinfo));
    pg_check(tamis_copy_with(&into, from, &room.options));
    return into;
}

static tamis *filter_state(FunctionCallInfo fcinfo, int arg) {
    return PG_ARGISNULL(arg) ? NULL : (tamis *)PG_GETARG_POINTER(arg);
}

PG_FUNCTION_INFO_V1(pg_tamis_union_row);
Datum pg_tamis_union_row(PG_FUNCTION_ARGS) {
    tamis *into = filter_state(fcinfo, 0);
    if (!PG_ARGISNULL(1)) {
        tamis *from = pg_view(PG_GETARG_DATUM(1));
        into = joined(fcinfo, into, from);
        tamis_free(from);
    }
    if (!into) PG_RETURN_NULL();
    PG_RETURN_POINTER(into);
}

PG_FUNCTION_INFO_V1(pg_tamis_union_join);
Datum pg_tamis_union_join(PG_FUNCTION_ARGS) {
    tamis *into = filter_state(fcinfo, 0), *from = filter_state(fcinfo, 1);
    (void)group_of(fcinfo);
    if (from) into = joined(fcinfo, into, from);
    if (!into) PG_RETURN_NULL();
    PG_RETURN_POINTER(into);
}

PG_FUNCTION_INFO_V1(pg_tamis_union_end);
Datum pg_tamis_union_end(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    PG_RETURN_POINTER(pg_value_of((tamis *)PG_GETARG_POINTER(0)));
}

PG_FUNCTION_INFO_V1(pg_tamis_union_in);
Datum pg_tamis_union_in(PG_FUNCTION_ARGS) {
    PG_RETURN_POINTER(pg_load(PG_GETARG_DATUM(0), CurrentMemoryContext));
}
