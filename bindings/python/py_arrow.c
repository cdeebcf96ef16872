/* SPDX-License-Identifier: MIT */
/* Columns of Arrow, by the C data interface: one array, or a stream of them.
 *
 * A column's values lie in buffers of their own: offsets and bytes, views of 16 bytes, values of
 * one width; a bitmap tells which rows are null. A dictionary has indices into such a column. */
#include "bindings/python/py.h"

#include <stdlib.h>
#include <string.h>

#include "bindings/python/py_arrow.h"

typedef enum layout { NUMBERS, FIXED, OFFSETS_32, OFFSETS_64, VIEWS, NULLS } layout;

typedef struct column_type {
    layout layout;
    py_family family;
    size_t width;
    bool is_signed;
} column_type;

typedef struct column {
    column_type type;
    const arrow_array *array;
    const uint8_t *validity;
    const struct column *indices; /* of a dictionary: this is the column of its values */
} column;

/* ---- Types ---------------------------------------------------------------------------------- */

static const struct named {
    const char *format;
    column_type type;
} types[] = {
    {"c", {NUMBERS, PY_NUMBER, 1, true}},   {"C", {NUMBERS, PY_NUMBER, 1, false}},
    {"s", {NUMBERS, PY_NUMBER, 2, true}},   {"S", {NUMBERS, PY_NUMBER, 2, false}},
    {"i", {NUMBERS, PY_NUMBER, 4, true}},   {"I", {NUMBERS, PY_NUMBER, 4, false}},
    {"l", {NUMBERS, PY_NUMBER, 8, true}},   {"L", {NUMBERS, PY_NUMBER, 8, false}},
    {"u", {OFFSETS_32, PY_TEXT, 0, false}}, {"z", {OFFSETS_32, PY_BYTES, 0, false}},
    {"U", {OFFSETS_64, PY_TEXT, 0, false}}, {"Z", {OFFSETS_64, PY_BYTES, 0, false}},
    {"vu", {VIEWS, PY_TEXT, 16, false}},    {"vz", {VIEWS, PY_BYTES, 16, false}},
    {"n", {NULLS, PY_BYTES, 0, false}},
};

static int read_type(const arrow_schema *schema, column_type *type) {
    const char *format = schema->format;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(format, types[i].format) == 0) {
            *type = types[i].type;
            return 0;
        }
    char *after = NULL;
    const long long width = strncmp(format, "w:", 2) == 0 ? strtoll(format + 2, &after, 10) : -1;
    if (width >= 0 && after && !*after) {
        *type = (column_type){FIXED, PY_BYTES, (size_t)width, false};
        return 0;
    }
    PyErr_Format(PyExc_TypeError,
                 "an Arrow column of type \"%s\" holds no keys: strings, binary and integers are "
                 "keys; cast it to one of them%s",
                 format, *format == '+' ? ", and give one column of a table" : "");
    return -1;
}

/* ---- Values --------------------------------------------------------------------------------- */

static bool is_null(const column *c, size_t row) {
    const size_t bit = row + (size_t)c->array->offset;
    if (c->type.layout == NULLS) return true;
    return c->validity && !(c->validity[bit / 8] >> bit % 8 & 1);
}

static uint64_t number_at(const column *c, size_t row) {
    const size_t i = row + (size_t)c->array->offset;
    const void *values = c->array->buffers[1];
    const bool is_signed = c->type.is_signed;
    switch (c->type.width) {
    case 1:
        return is_signed ? (uint64_t)(int64_t)((const int8_t *)values)[i]
                         : ((const uint8_t *)values)[i];
    case 2:
        return is_signed ? (uint64_t)(int64_t)((const int16_t *)values)[i]
                         : ((const uint16_t *)values)[i];
    case 4:
        return is_signed ? (uint64_t)(int64_t)((const int32_t *)values)[i]
                         : ((const uint32_t *)values)[i];
    default: return ((const uint64_t *)values)[i];
    }
}

/* 16 bytes: the length, then the bytes up to 12; or 4 of them, a buffer and the place in it. */
static struct tamis_key view_at(const arrow_array *array, size_t i) {
    const char *view = (const char *)array->buffers[1] + 16 * i;
    int32_t len, buffer, offset;
    memcpy(&len, view, 4);
    if (len <= 12) return (struct tamis_key){view + 4, (size_t)len};
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    return (struct tamis_key){(const char *)array->buffers[2 + buffer] + offset, (size_t)len};
}

static struct tamis_key bytes_at(const column *c, size_t row) {
    const arrow_array *array = c->array;
    const size_t i = row + (size_t)array->offset;
    const char *bytes = array->n_buffers > 2 ? array->buffers[2] : NULL;
    const int32_t *few = array->buffers[1];
    const int64_t *many = array->buffers[1];
    switch (c->type.layout) {
    case OFFSETS_32:
        return (struct tamis_key){bytes ? bytes + few[i] : "", (size_t)(few[i + 1] - few[i])};
    case OFFSETS_64:
        return (struct tamis_key){bytes ? bytes + many[i] : "", (size_t)(many[i + 1] - many[i])};
    case VIEWS: return view_at(array, i);
    default:
        return (struct tamis_key){(const char *)array->buffers[1] + c->type.width * i,
                                  c->type.width};
    }
}

static bool row_of(const column *c, size_t row, size_t *value_row) {
    const column *indices = c->indices;
    *value_row = row;
    if (indices) {
        if (is_null(indices, row)) return false;
        const uint64_t index = number_at(indices, row);
        if (index >= (uint64_t)c->array->length) return false;
        *value_row = (size_t)index;
    }
    return !is_null(c, *value_row);
}

/* The usual column: strings, of which none is null. */
static void load_strings(const column *c, size_t at, size_t rows, py_batch *b) {
    const int32_t *offset = (const int32_t *)c->array->buffers[1] + c->array->offset + at;
    const char *bytes = c->array->buffers[2];
    for (size_t i = 0; i < rows; i++) {
        b->keys[i] = (struct tamis_key){bytes + offset[i], (size_t)(offset[i + 1] - offset[i])};
        b->row[i] = (uint32_t)i;
    }
    b->waiting = rows;
}

static size_t load(const py_keys *keys, size_t at, size_t rows, py_batch *b) {
    const column *c = keys->data;
    size_t n = 0, row;
    if (c->type.layout == OFFSETS_32 && !keys->may_lack && c->array->buffers[2]) {
        load_strings(c, at, rows, b);
        return rows;
    }
    for (size_t i = 0; i < rows; i++) {
        if (!row_of(c, at + i, &row)) {
            if (b->valid) b->valid[b->first_row + i] = 0;
            continue;
        }
        b->row[n] = (uint32_t)i;
        if (c->type.family == PY_NUMBER)
            b->numbers[n++] = number_at(c, row);
        else
            b->keys[n++] = bytes_at(c, row);
    }
    b->waiting = n;
    return rows;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

static int check(bool is_right) {
    if (!is_right) PyErr_SetString(PyExc_ValueError, "the Arrow array does not have its buffers");
    return is_right ? 0 : -1;
}

static int make_column(const arrow_array *array, column_type type, column *c) {
    const bool is_empty = array->length == 0;
    *c = (column){.type = type, .array = array};
    if (check(array->length >= 0 && array->offset >= 0)) return -1;
    if (type.layout == NULLS) return 0;
    const int64_t least = type.layout == OFFSETS_32 || type.layout == OFFSETS_64 ? 3 : 2;
    if (check(array->n_buffers >= least && (is_empty || array->buffers[1]))) return -1;
    if (array->null_count != 0) c->validity = array->buffers[0];
    return 0;
}

static int run_column(py_batch *b, const column *c, size_t n) {
    py_keys keys = {.n = n,
                    .family = c->type.family,
                    .is_unsigned = c->type.family == PY_NUMBER && !c->type.is_signed,
                    .may_lack = c->validity || c->indices || c->type.layout == NULLS,
                    .load = load,
                    .data = c};
    /* Without a key there is nothing that a filter could refuse. */
    if (c->type.layout == NULLS && b->form->kind != PY_FORM_TEXT)
        keys.family = b->form->kind == PY_FORM_INT ? PY_NUMBER : PY_BYTES;
    const bool is_aligned = n && (uintptr_t)c->array->buffers[1] % 8 == 0;
    const bool is_plain = n && !keys.may_lack;
    if (is_plain && is_aligned && c->type.layout == NUMBERS && c->type.width == 8)
        keys.whole = (const uint64_t *)c->array->buffers[1] + c->array->offset;
    if (is_plain && c->type.layout == FIXED)
        keys.whole = bytes_at(c, 0).bytes, keys.width = c->type.width;
    return py_batch_keys(b, &keys);
}

static int run_array(py_batch *b, const arrow_schema *schema, const arrow_array *array) {
    column_type type;
    column c, values;
    if (read_type(schema, &type) || make_column(array, type, &c)) return -1;
    if (!schema->dictionary) return run_column(b, &c, (size_t)array->length);
    if (check(type.layout == NUMBERS && array->dictionary) ||
        read_type(schema->dictionary, &type) || make_column(array->dictionary, type, &values))
        return -1;
    values.indices = &c;
    return run_column(b, &values, (size_t)array->length);
}

static int fail_stream(arrow_stream *stream) {
    const char *why = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s",
                 why ? why : "it does not say why");
    return -1;
}

static int run_arrays(py_batch *b, arrow_stream *stream, const arrow_schema *schema) {
    for (;;) {
        arrow_array array;
        memset(&array, 0, sizeof array);
        if (stream->get_next(stream, &array)) return fail_stream(stream);
        if (!array.release) return 0;
        const int rc = run_array(b, schema, &array);
        array.release(&array);
        if (rc) return -1;
    }
}

static int run_stream(py_batch *b, arrow_stream *stream) {
    arrow_schema schema;
    column_type type;
    memset(&schema, 0, sizeof schema);
    if (stream->get_schema(stream, &schema)) return fail_stream(stream);
    int rc = read_type(schema.dictionary ? schema.dictionary : &schema, &type);
    if (!rc) rc = run_arrays(b, stream, &schema);
    schema.release(&schema);
    return rc;
}

/* ---- Objects -------------------------------------------------------------------------------- */

static int run_capsule(py_batch *b, PyObject *made) {
    arrow_stream *stream = PyCapsule_GetPointer(made, "arrow_array_stream");
    return stream ? run_stream(b, stream) : -1;
}

static int run_capsules(py_batch *b, PyObject *made) {
    if (!PyTuple_Check(made) || PyTuple_Size(made) != 2) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ did not return two capsules");
        return -1;
    }
    arrow_schema *schema = PyCapsule_GetPointer(PyTuple_GetItem(made, 0), "arrow_schema");
    if (!schema) return -1;
    arrow_array *array = PyCapsule_GetPointer(PyTuple_GetItem(made, 1), "arrow_array");
    return array ? run_array(b, schema, array) : -1;
}

/* A library may offer the interface and not have what it needs for it: then the object is what
 * else it is. */
static int ask(PyObject *object, const char *name, PyObject **made) {
    PyObject *method = PyObject_GetAttrString(object, name);
    *made = method ? PyObject_CallNoArgs(method) : NULL;
    Py_XDECREF(method);
    if (*made) return 1;
    if (!PyErr_ExceptionMatches(method ? PyExc_ImportError : PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}

int py_batch_arrow(py_batch *b, PyObject *object) {
    PyObject *made = NULL;
    int rc = ask(object, "__arrow_c_array__", &made);
    if (rc > 0) {
        rc = run_capsules(b, made) ? -1 : 1;
    } else if (rc == 0) {
        rc = ask(object, "__arrow_c_stream__", &made);
        if (rc > 0) rc = run_capsule(b, made) ? -1 : 1;
    }
    Py_XDECREF(made);
    return rc;
}
