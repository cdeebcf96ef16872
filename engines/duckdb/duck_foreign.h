/* SPDX-License-Identifier: MIT */
/* Filters in files of other systems, and in Parquet files: for duck_tables.c. */
#ifndef TAMIS_ENGINES_DUCKDB_DUCK_FOREIGN_H
#define TAMIS_ENGINES_DUCKDB_DUCK_FOREIGN_H

#include "engines/sql/sql_keys.h"

typedef struct foreign_filter {
    char *name;   /* its place: "column n, row group 0, INT32" */
    char *format; /* by which it is read: "parquet:column=n,group=0" */
    char *kind;
    char *keys; /* the encoding of its keys; NULL: the file does not say */
    uint64_t offset, size;
} foreign_filter;

typedef struct foreign_file {
    int descriptor;
    uint64_t bytes;
    uint64_t count;
    foreign_filter *filter;
} foreign_file;

/* The filters of a file in the directory of filters, or below it. A format that is NULL follows
 * from the name: "parquet" and "tamis". NULL with a sentence. */
foreign_file *foreign_open(const char *file, const char *format, sql_why *);

/* Those of one column of a Parquet file; a column without any is refused. */
foreign_file *foreign_open_column(const char *file, const char *column, sql_why *);

void foreign_close(foreign_file *);

/* One of them, to be freed, with the note "encoding" where that is known; NULL with a sentence. */
tamis *foreign_filter_of(const foreign_file *, const foreign_filter *, sql_why *);

/* Asks one of them, by the text of a key of this type. What can never be is refused. */
bool foreign_may_have(const foreign_file *, const foreign_filter *, const char *key, int type,
                      bool *may_have, sql_why *);

#endif
