/* SPDX-License-Identifier: MIT */
/* For engines/duckdb: what its files share.
 *
 * DuckDB calls a function with a chunk: a vector for each argument, of up to 2048 rows.
 *
 *     first argument  ──runs of rows with one name or image──▶ filter, held for the run
 *     second argument ──its type, the note "encoding"──▶ numbers, or keys
 *     filter, keys    ──one call of the library──▶ answers of the run
 *
 * Queries run in many threads. What they share, names and opened images, has a lock, and a filter
 * is held while it is queried: another thread may give its name to another one meanwhile. */
#ifndef TAMIS_ENGINES_DUCKDB_DUCK_H
#define TAMIS_ENGINES_DUCKDB_DUCK_H

#include "engines/duckdb/duck_api.h"
#include "engines/sql/sql_keys.h"
#include "engines/sql/sql_names.h"
#include "tamis.h"

/* ---- Errors --------------------------------------------------------------------------------- */

/* A sentence in `why`; false, for whoever returns it. */
bool duck_fail(sql_why *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* False with the sentence of the library, unless rc is TAMIS_OK. */
bool duck_check(tamis_status rc, sql_why *);

bool duck_no_memory(sql_why *);

/* The whole of it as DuckDB shows it: "tamis: sentence. Hint." */
enum { DUCK_ERROR = 640 };
const char *duck_sentence(const sql_why *, char text[DUCK_ERROR]);

/* ---- Vectors -------------------------------------------------------------------------------- */

/* The rows of a vector. */
typedef struct duck_column {
    int type;
    duck_type logical; /* of decimals, enums and lists; closed with the column */
    const void *data;
    const uint64_t *validity; /* a bit for each row; NULL: there are no NULLs */
    duck_vector vector;
} duck_column;

duck_column duck_open_column(duck_vector);
duck_column duck_open_argument(duck_chunk, uint64_t index);
void duck_close_column(duck_column *);

static inline bool duck_is_null(const duck_column *c, uint64_t row) {
    return c->type == DUCK_NULL || (c->validity && !(c->validity[row / 64] >> row % 64 & 1));
}

static inline const char *duck_bytes(const duck_string *s) {
    return s->len <= DUCK_MAX_INLINED ? s->inlined.bytes : s->elsewhere.bytes;
}

static inline const duck_string *duck_strings(const duck_column *c) {
    return (const duck_string *)c->data;
}

/* A text of a vector as one that ends with NUL, in memory to be freed: NULL with a sentence when
 * there is none, or it has a NUL inside. */
char *duck_text(const duck_string *, const char *what, sql_why *);

/* Results. NULL as text or a rate of 0 become NULL. */
void duck_put_null(duck_vector, uint64_t row);
void duck_put_text(duck_vector, uint64_t row, const char *);
void duck_put_count(duck_vector, uint64_t row, uint64_t);
void duck_put_rate(duck_vector, uint64_t row, double);
void duck_put_bool(duck_vector, uint64_t row, bool);

/* A list that is put together from row to row, each after the one before. */
bool duck_put_texts(duck_vector, uint64_t row, const char *const *texts, size_t count, sql_why *);

bool duck_put_abilities(duck_vector, uint64_t row, unsigned abilities, sql_why *);

/* The image of a filter; larger ones than a BLOB can be are refused. */
bool duck_put_image(duck_vector, uint64_t row, const tamis *, sql_why *);

/* Options for filters that are made here: no larger than a BLOB. */
extern const struct tamis_options duck_making;

/* ---- Keys ----------------------------------------------------------------------------------- */

/* Memory that is given in pieces, and back at once. Starts as {0}. */
typedef struct duck_room {
    struct duck_block *last;
} duck_room;

void *duck_take(duck_room *, size_t); /* NULL: no memory */
void duck_give_back(duck_room *);

/* How values of a type become keys of a filter. */
typedef struct duck_form {
    sql_form form;
    const char *encoding; /* of the filter, or the form's own */
} duck_form;

/* The natural form of the column's type; types without one are refused. */
bool duck_form_of(duck_form *, const duck_column *, sql_why *);

/* From now on keys are those of this filter. */
bool duck_obey(duck_form *, const tamis *, sql_why *);

/* Keys of rows. Those of NULLs are something that is to be ignored. */
typedef struct duck_keys {
    size_t count;
    const uint64_t *numbers; /* one of these is NULL */
    const struct tamis_key *keys;
    const uint8_t *impossible; /* not keys of the filter, whatever it has; or NULL: none is */
} duck_keys;

/* The keys of rows `from` to before `to`, in `room` or in the vector. */
bool duck_read_keys(duck_keys *, const duck_form *, const duck_column *, uint64_t from, uint64_t to,
                    duck_room *, sql_why *);

/* Refuses keys that no filter of the form can have, before they are added. */
bool duck_check_possible(const duck_keys *, const duck_column *, uint64_t from, const duck_form *,
                         sql_why *);

/* ---- Filters -------------------------------------------------------------------------------- */

/* A filter that does not go away while it is held. Starts as {0}. */
typedef struct duck_held {
    const tamis *filter;
    sql_opened *named;
    struct duck_image *image;
} duck_held;

/* The filter of a name or of an image. */
bool duck_hold(duck_held *, const duck_string *, bool is_name, sql_why *);
void duck_drop(duck_held *);

/* Rows of the first argument that have one filter after the other. Starts with its column. */
typedef struct duck_runs {
    duck_column column;
    uint64_t count; /* of rows */
    uint64_t from, to;
    duck_held held; /* the filter of these rows; none where they are NULL */
} duck_runs;

bool duck_open_runs(duck_runs *, duck_chunk, sql_why *);

/* The next ones; false at the end, and with a sentence when a filter cannot be had. */
bool duck_next_run(duck_runs *, sql_why *);
void duck_close_runs(duck_runs *);

/* Names, once for the process: files are those of the directory, none when that is NULL. */
bool duck_open_names(const char *directory);
bool duck_name_filter(const char *name, tamis *, sql_why *); /* takes the filter */
bool duck_name_file(const char *file, const char *name, sql_why *);
bool duck_forget_name(const char *name);

/* The path of a file in the directory, or below it; to be freed. NULL with a sentence. */
char *duck_path_of(const char *file, sql_why *);

/* ---- Registering ---------------------------------------------------------------------------- */

/* What a scalar function does: false with a sentence. */
typedef bool duck_work(duck_chunk, duck_vector, sql_why *);

void duck_run(duck_info, duck_chunk, duck_vector, duck_work *);

/* What DuckDB calls for it. */
#define DUCK_CALL(work)                                                          \
    static void call_##work(duck_info info, duck_chunk chunk, duck_vector out) { \
        duck_run(info, chunk, out, work);                                        \
    }

/* A function with up to two forms: of so many arguments of any type. */
typedef struct duck_function {
    const char *name;
    duck_scalar_fn *call;
    duck_type (*result)(void);
    unsigned min_arguments, max_arguments;
    bool is_volatile; /* called for every row, also of constants */
    bool takes_nulls; /* called also where an argument is NULL */
} duck_function;

bool duck_register_scalars(duck_connection, const duck_function *, size_t count);

/* An aggregate of keys, with a spec or without one, or of BLOBs, into a BLOB. */
typedef struct duck_aggregation {
    const char *name;
    int key; /* the type of its first argument */
    bool has_spec;
    duck_state_size_fn *size;
    duck_state_init_fn *init;
    duck_update_fn *update;
    duck_combine_fn *combine;
    duck_finalize_fn *finalize;
    duck_destroy_fn *destroy;
} duck_aggregation;

bool duck_register_aggregate(duck_connection, const duck_aggregation *);
void duck_raise(duck_info, const sql_why *);

/* Each file's own. */
bool duck_register_queries(duck_connection);
bool duck_register_changes(duck_connection);
bool duck_register_facts(duck_connection);
bool duck_register_build(duck_connection);
bool duck_register_merge(duck_connection);
bool duck_register_tables(duck_connection);

duck_type duck_type_bool(void);
duck_type duck_type_bigint(void);
duck_type duck_type_double(void);
duck_type duck_type_text(void);
duck_type duck_type_texts(void);
duck_type duck_type_blob(void);

#endif
