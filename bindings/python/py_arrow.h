/* SPDX-License-Identifier: MIT */
/* Arrow's C data interface: structs that libraries of all languages hand to each other. Names and
 * order of the fields are those of its specification, but for our spelling of types. */
#ifndef TAMIS_BINDINGS_PYTHON_PY_ARROW_H
#define TAMIS_BINDINGS_PYTHON_PY_ARROW_H

#include <stdint.h>

typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
} arrow_schema;

typedef struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *);
    void *private_data;
} arrow_array;

typedef struct arrow_stream {
    int (*get_schema)(struct arrow_stream *, arrow_schema *);
    int (*get_next)(struct arrow_stream *, arrow_array *);
    const char *(*get_last_error)(struct arrow_stream *);
    void (*release)(struct arrow_stream *);
    void *private_data;
} arrow_stream;

#endif
