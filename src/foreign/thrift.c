/* SPDX-License-Identifier: MIT */
#include "foreign/thrift.h"

#include <stddef.h>

enum { MAX_DEPTH = 32 };

static uint64_t left(const tamis_thrift *t) {
    return (uint64_t)(t->end - t->at);
}

static void fail(tamis_thrift *t, const char *wrong) {
    if (!t->wrong) t->wrong = wrong;
    t->at = t->end;
}

static uint8_t byte(tamis_thrift *t) {
    if (t->at < t->end) return *t->at++;
    fail(t, "it is truncated");
    return 0;
}

static void pass(tamis_thrift *t, uint64_t count, uint64_t size) {
    if (count > left(t) / size)
        fail(t, "it is truncated");
    else
        t->at += count * size;
}

static uint64_t unsigned_number(tamis_thrift *t) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t b = byte(t);
        if (shift == 63 && b > 1) break;
        value |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) return value;
    }
    fail(t, "a number has more than 64 bits");
    return 0;
}

static int64_t signed_number(tamis_thrift *t) {
    const uint64_t folded = unsigned_number(t);
    const int64_t half = (int64_t)(folded >> 1);
    return folded & 1 ? -half - 1 : half;
}

int64_t tamis__thrift_number(tamis_thrift *t, unsigned type) {
    const int64_t max = type == TAMIS_THRIFT_I16   ? INT16_MAX
                        : type == TAMIS_THRIFT_I32 ? INT32_MAX
                                                   : INT64_MAX;
    const int64_t value = signed_number(t);
    if (value <= max && value >= -max - 1) return value;
    fail(t, "a number is larger than its type");
    return 0;
}

const uint8_t *tamis__thrift_binary(tamis_thrift *t, uint64_t *len) {
    *len = unsigned_number(t);
    if (*len > left(t)) {
        fail(t, "a text is truncated");
        *len = 0;
    }
    const uint8_t *text = t->at;
    t->at += *len;
    return text;
}

bool tamis__thrift_next(tamis_thrift *t, tamis_field *field) {
    const uint8_t head = byte(t);
    if (head == TAMIS_THRIFT_STOP) return false; /* also after an error */
    field->type = head & 15;
    const int64_t id =
        head >> 4 ? field->id + (head >> 4) : tamis__thrift_number(t, TAMIS_THRIFT_I16);
    if (id > INT16_MAX) fail(t, "a field has a number above 2^15-1");
    if (field->type == TAMIS_THRIFT_STOP || field->type > TAMIS_THRIFT_UUID)
        fail(t, "a field has an unknown type");
    field->id = (int32_t)id;
    return !t->wrong;
}

/* ---- Skipping ------------------------------------------------------------------------------- */

static uint64_t list_head(tamis_thrift *t, unsigned *type) {
    const uint8_t head = byte(t);
    const uint64_t count = head >> 4 == 15 ? unsigned_number(t) : head >> 4;
    *type = head & 15;
    if (count > left(t)) fail(t, "a list is truncated");
    return t->wrong ? 0 : count;
}

static void skip(tamis_thrift *t, unsigned type, unsigned depth);

static void skip_elements(tamis_thrift *t, unsigned type, uint64_t count, unsigned depth) {
    /* Booleans take no byte as a field, and one as an element. */
    if (type == TAMIS_THRIFT_TRUE || type == TAMIS_THRIFT_FALSE)
        pass(t, count, 1);
    else
        while (count-- && !t->wrong) skip(t, type, depth);
}

static void skip_map(tamis_thrift *t, unsigned depth) {
    uint64_t count = unsigned_number(t);
    if (count == 0) return;
    const uint8_t types = byte(t);
    while (count-- && !t->wrong) {
        skip_elements(t, types >> 4, 1, depth);
        skip_elements(t, types & 15, 1, depth);
    }
}

static void skip_list(tamis_thrift *t, unsigned depth) {
    unsigned type;
    const uint64_t count = list_head(t, &type);
    skip_elements(t, type, count, depth);
}

static void skip_struct(tamis_thrift *t, unsigned depth) {
    for (tamis_field field = {0, 0}; tamis__thrift_next(t, &field);) skip(t, field.type, depth);
}

static void skip(tamis_thrift *t, unsigned type, unsigned depth) {
    uint64_t len;
    if (depth == MAX_DEPTH) fail(t, "structures are nested more than 32 deep");
    if (t->wrong) return;
    switch (type) {
    case TAMIS_THRIFT_TRUE:
    case TAMIS_THRIFT_FALSE: return;
    case TAMIS_THRIFT_I8: pass(t, 1, 1); return;
    case TAMIS_THRIFT_I16:
    case TAMIS_THRIFT_I32:
    case TAMIS_THRIFT_I64: unsigned_number(t); return;
    case TAMIS_THRIFT_DOUBLE: pass(t, 1, 8); return;
    case TAMIS_THRIFT_BINARY: tamis__thrift_binary(t, &len); return;
    case TAMIS_THRIFT_LIST:
    case TAMIS_THRIFT_SET: skip_list(t, depth + 1); return;
    case TAMIS_THRIFT_MAP: skip_map(t, depth + 1); return;
    case TAMIS_THRIFT_STRUCT: skip_struct(t, depth + 1); return;
    case TAMIS_THRIFT_UUID: pass(t, 1, 16); return;
    default: fail(t, "an element has an unknown type");
    }
}

void tamis__thrift_skip(tamis_thrift *t, unsigned type) {
    skip(t, type, 0);
}

uint64_t tamis__thrift_list(tamis_thrift *t, unsigned type) {
    unsigned found;
    const uint64_t count = list_head(t, &found);
    if (found == type) return count;
    skip_elements(t, found, count, 1);
    return 0;
}
