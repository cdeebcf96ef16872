/* SPDX-License-Identifier: MIT */
/* DuckDB as the extension sees it: declarations of our own, of exactly what is called.
 *
 * No header of the database is needed, and none of its licences comes along. A database gives a
 * list of functions, each of which keeps its place; duck_api.def lists those that are called.
 * Numbers and the order of fields below are the binary interface that DuckDB keeps stable. */
#ifndef TAMIS_DUCKDB_DUCK_API_H
#define TAMIS_DUCKDB_DUCK_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUCK_API_VERSION "v1.2.0"

typedef struct duck_database_ *duck_database;
typedef struct duck_connection_ *duck_connection;
typedef struct duck_info_ *duck_info; /* of the call at hand */
typedef struct duck_type_ *duck_type;
typedef struct duck_value_ *duck_value;
typedef struct duck_chunk_ *duck_chunk;
typedef struct duck_vector_ *duck_vector;
typedef struct duck_scalar_ *duck_scalar;
typedef struct duck_scalar_set_ *duck_scalar_set;
typedef struct duck_aggregate_ *duck_aggregate;
typedef struct duck_aggregate_set_ *duck_aggregate_set;
typedef struct duck_table_ *duck_table;

enum { DUCK_OK = 0 };

enum {
    DUCK_BOOLEAN = 1,
    DUCK_TINYINT,
    DUCK_SMALLINT,
    DUCK_INTEGER,
    DUCK_BIGINT,
    DUCK_UTINYINT,
    DUCK_USMALLINT,
    DUCK_UINTEGER,
    DUCK_UBIGINT,
    DUCK_FLOAT,
    DUCK_DOUBLE,
    DUCK_TIMESTAMP,
    DUCK_DATE,
    DUCK_HUGEINT = 16,
    DUCK_VARCHAR,
    DUCK_BLOB,
    DUCK_DECIMAL,
    DUCK_TIMESTAMP_S,
    DUCK_TIMESTAMP_MS,
    DUCK_TIMESTAMP_NS,
    DUCK_ENUM,
    DUCK_LIST,
    DUCK_UUID = 27,
    DUCK_TIMESTAMP_TZ = 31,
    DUCK_UHUGEINT,
    DUCK_ANY = 34,
    DUCK_NULL = 36,
    DUCK_TIMESTAMP_TZ_NS = 42,
};

/* A text or a blob in a vector: short ones lie in it, others elsewhere. */
typedef union duck_string {
    uint32_t len;
    struct {
        uint32_t len;
        char bytes[12];
    } inlined;
    struct {
        uint32_t len;
        char prefix[4];
        const char *bytes;
    } elsewhere;
} duck_string;
enum { DUCK_MAX_INLINED = 12 };

/* Where the elements of a list lie in the child vector. */
typedef struct duck_list {
    uint64_t offset, length;
} duck_list;

/* The state of a group: memory of DuckDB, in which ours is a pointer. */
typedef void **duck_state;

typedef void duck_delete_fn(void *);
typedef void duck_scalar_fn(duck_info, duck_chunk, duck_vector);
typedef uint64_t duck_state_size_fn(duck_info);
typedef void duck_state_init_fn(duck_info, duck_state);
typedef void duck_update_fn(duck_info, duck_chunk, duck_state *);
typedef void duck_combine_fn(duck_info, duck_state *from, duck_state *into, uint64_t count);
typedef void duck_finalize_fn(duck_info, duck_state *, duck_vector, uint64_t count,
                              uint64_t offset);
typedef void duck_destroy_fn(duck_state *, uint64_t count);
typedef void duck_bind_fn(duck_info);
typedef void duck_init_fn(duck_info);
typedef void duck_table_fn(duck_info, duck_chunk);

/* What an extension is loaded with. */
typedef struct duck_access {
    void (*set_error)(duck_info, const char *);
    duck_database *(*get_database)(duck_info);
    const void *(*get_api)(duck_info, const char *version);
} duck_access;

#define SLOT(place, result, name, arguments) result(*name) arguments;
extern struct duck_api {
#include "engines/duckdb/duck_api.def"
} duck;
#undef SLOT

/* Takes the functions from their places. */
void duck_find(const void *api);

#endif
