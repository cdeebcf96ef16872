/* SPDX-License-Identifier: MIT */
/* The files of src/foreign may include this: a reader of Thrift's compact protocol, for bytes that
 * nobody vouches for.
 *
 *     struct   fields, each a byte with type and distance to the id before it; 0 ends it
 *     number   7 bits a byte, the sign folded into the lowest bit
 *     list     count and type, then the elements
 *
 * Nothing is allocated and nothing is trusted: a count beyond the bytes that are left is wrong,
 * since every element takes one at least; structures lie only so deep in one another; and after
 * the first wrong thing all reading ends at once. So the time is linear in the bytes. */
#ifndef TAMIS_FOREIGN_THRIFT_H
#define TAMIS_FOREIGN_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

enum tamis_thrift_type {
    TAMIS_THRIFT_STOP,
    TAMIS_THRIFT_TRUE,
    TAMIS_THRIFT_FALSE,
    TAMIS_THRIFT_I8,
    TAMIS_THRIFT_I16,
    TAMIS_THRIFT_I32,
    TAMIS_THRIFT_I64,
    TAMIS_THRIFT_DOUBLE,
    TAMIS_THRIFT_BINARY,
    TAMIS_THRIFT_LIST,
    TAMIS_THRIFT_SET,
    TAMIS_THRIFT_MAP,
    TAMIS_THRIFT_STRUCT,
    TAMIS_THRIFT_UUID
};

typedef struct tamis_thrift {
    const uint8_t *at, *end;
    const char *wrong; /* what it is, in a few words; NULL: nothing so far */
} tamis_thrift;

/* Where a struct is at: {0} before its first field. */
typedef struct tamis_field {
    int32_t id;
    unsigned type;
} tamis_field;

/* A field by id and type, for a switch: one that has another type than we know is skipped, as the
 * readers that Thrift generates do. */
#define TAMIS_FIELD(id, type) ((id)*16 + (int32_t)TAMIS_THRIFT_##type)
static inline int32_t tamis__field(tamis_field field) {
    return field.id * 16 + (int32_t)field.type;
}

/* Goes to the next field, behind whose value the reader must stand; false at the end of the struct,
 * and when something is wrong. */
bool tamis__thrift_next(tamis_thrift *, tamis_field *);

/* Values of the field or element at hand. What is wrong reads as 0. */
int64_t tamis__thrift_number(tamis_thrift *, unsigned type); /* I16, I32, I64 */
const uint8_t *tamis__thrift_binary(tamis_thrift *, uint64_t *len);

/* The head of a list: how many elements of `type` follow. Of another type it is skipped, and has
 * none. */
uint64_t tamis__thrift_list(tamis_thrift *, unsigned type);

void tamis__thrift_skip(tamis_thrift *, unsigned type);

#endif
