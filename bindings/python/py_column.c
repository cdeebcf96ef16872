/* SPDX-License-Identifier: MIT */
/* Columns of answers: bools, or integers, of which some may be null.
 *
 * They are sequences, export a buffer (where a null is 0), and Arrow arrays. */
#include "bindings/python/py.h"

#include <stdlib.h>
#include <string.h>

#include "bindings/python/py_arrow.h"

typedef struct column {
    PyObject_HEAD Py_ssize_t n;
    uint8_t *hit;    /* bools, if there is no value */
    uint64_t *value; /* integers */
    uint8_t *valid;  /* NULL: none is null */
} column;

static PyTypeObject *column_type;

PyObject *py_column_new(py_batch *b) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(column_type, Py_tp_alloc);
    column *c = (column *)alloc(column_type, 0);
    if (!c) return NULL;
    c->n = (Py_ssize_t)b->rows;
    c->hit = b->hit;
    c->value = b->value;
    c->valid = b->valid;
    /* A key that a map does not have is null. */
    if (b->hit && b->value) {
        for (size_t i = 0; b->valid && i < b->rows; i++) b->hit[i] &= b->valid[i];
        free(b->valid);
        c->valid = b->hit;
        c->hit = NULL;
    }
    b->hit = b->valid = NULL;
    b->value = NULL;
    return (PyObject *)c;
}

static void column_free(PyObject *self) {
    column *c = (column *)self;
    PyTypeObject *type = Py_TYPE(self);
    free(c->hit);
    free(c->value);
    free(c->valid);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- A sequence ----------------------------------------------------------------------------- */

static Py_ssize_t column_len(PyObject *self) {
    return ((column *)self)->n;
}

static PyObject *column_item(PyObject *self, Py_ssize_t i) {
    const column *c = (column *)self;
    if (i < 0 || i >= c->n) {
        PyErr_SetString(PyExc_IndexError, "there is no such row");
        return NULL;
    }
    if (c->valid && !c->valid[i]) Py_RETURN_NONE;
    return c->value ? PyLong_FromUnsignedLongLong(c->value[i]) : PyBool_FromLong(c->hit[i]);
}

static PyObject *list_of_bools(const uint8_t *hit, Py_ssize_t n) {
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++)
        PyList_SetItem(list, i, Py_NewRef(hit[i] ? Py_True : Py_False));
    return list;
}

static PyObject *column_tolist(PyObject *self, PyObject *none) {
    (void)none;
    const column *c = (column *)self;
    const Py_ssize_t n = column_len(self);
    if (!c->value && !c->valid) return list_of_bools(c->hit, n);
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *item = column_item(self, i);
        if (item)
            PyList_SetItem(list, i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *column_valid(PyObject *self, PyObject *none) {
    (void)none;
    const column *c = (column *)self;
    if (!c->valid) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)c->valid, c->n);
}

static PyObject *column_repr(PyObject *self) {
    const column *c = (column *)self;
    Py_ssize_t nulls = 0, hits = 0;
    for (Py_ssize_t i = 0; i < c->n; i++)
        if (c->valid && !c->valid[i])
            nulls++;
        else if (c->hit && c->hit[i])
            hits++;
    if (c->value) return PyUnicode_FromFormat("<tamis.Column: %zd ints, %zd null>", c->n, nulls);
    return PyUnicode_FromFormat("<tamis.Column: %zd bools, %zd true, %zd null>", c->n, hits, nulls);
}

/* ---- A buffer ------------------------------------------------------------------------------- */

static int column_buffer(PyObject *self, Py_buffer *view, int flags) {
    column *c = (column *)self;
    void *bytes = c->value ? (void *)c->value : c->hit;
    const Py_ssize_t width = c->value ? 8 : 1;
    static uint64_t nothing;
    if (PyBuffer_FillInfo(view, self, bytes ? bytes : &nothing, c->n * width, 0, flags)) return -1;
    view->itemsize = width;
    if (view->format) view->format = c->value ? "Q" : "?";
    if (view->shape) view->shape = &c->n;
    return 0;
}

/* ---- Arrow ---------------------------------------------------------------------------------- */

/* All that an array hands out, freed as one; the consumer may be without a GIL by then. */
typedef struct handed_out {
    const void *buffers[2];
    uint64_t bytes[];
} handed_out;

static void release_schema(arrow_schema *schema) {
    schema->release = NULL;
}

static void release_array(arrow_array *array) {
    free(array->private_data);
    array->release = NULL;
}

static void free_schema(PyObject *capsule) {
    arrow_schema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release) schema->release(schema);
    free(schema);
}

static void free_array(PyObject *capsule) {
    arrow_array *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release) array->release(array);
    free(array);
}

/* Eight bytes that are 0 or 1 become the bits of one: the product moves byte i to bit 56 + i. */
static uint8_t pack_eight(const uint8_t *bytes) {
    uint64_t eight;
    memcpy(&eight, bytes, sizeof eight);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    return (uint8_t)(eight * 0x0102040810204080 >> 56);
}

static void pack(uint8_t *bits, const uint8_t *bytes, Py_ssize_t n) {
    Py_ssize_t i = 0;
    for (; i + 8 <= n; i += 8) bits[i / 8] = pack_eight(bytes + i);
    for (; i < n; i++) bits[i / 8] |= (uint8_t)(bytes[i] << i % 8);
}

static bool fill_array(const column *c, arrow_array *array) {
    const size_t n = (size_t)c->n, bitmap = (n / 8 + 8) / 8 * 8;
    const size_t values = c->value ? n * 8 : bitmap;
    handed_out *out = calloc(1, sizeof *out + bitmap + values);
    if (!out) return false;
    uint8_t *first = (uint8_t *)out->bytes;
    int64_t nulls = 0;
    for (Py_ssize_t i = 0; c->valid && i < c->n; i++) nulls += !c->valid[i];
    if (c->valid) pack(first, c->valid, c->n);
    if (c->value && n)
        memcpy(first + bitmap, c->value, values);
    else if (n)
        pack(first + bitmap, c->hit, c->n);
    out->buffers[0] = c->valid ? first : NULL;
    out->buffers[1] = first + bitmap;
    *array = (arrow_array){.length = c->n,
                           .null_count = nulls,
                           .n_buffers = 2,
                           .buffers = out->buffers,
                           .release = release_array,
                           .private_data = out};
    return true;
}

static PyObject *make_capsules(arrow_schema *schema, arrow_array *array) {
    PyObject *first = PyCapsule_New(schema, "arrow_schema", free_schema);
    if (!first) {
        free(schema);
        array->release(array);
        free(array);
        return NULL;
    }
    PyObject *second = PyCapsule_New(array, "arrow_array", free_array);
    if (!second) {
        array->release(array);
        free(array);
        Py_DECREF(first);
        return NULL;
    }
    PyObject *both = PyTuple_Pack(2, first, second);
    Py_DECREF(first);
    Py_DECREF(second);
    return both;
}

/* The requested schema is a wish that a producer need not fulfil. */
static PyObject *column_arrow(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"requested_schema", NULL};
    const column *c = (column *)self;
    PyObject *wish;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O:__arrow_c_array__", words, &wish))
        return NULL;
    arrow_schema *schema = calloc(1, sizeof *schema);
    arrow_array *array = calloc(1, sizeof *array);
    if (!schema || !array || !fill_array(c, array)) {
        free(schema);
        free(array);
        return PyErr_NoMemory();
    }
    const int64_t may_be_null = 2;
    *schema = (arrow_schema){.format = c->value ? "L" : "b",
                             .name = "",
                             .flags = may_be_null,
                             .release = release_schema};
    return make_capsules(schema, array);
}

static PyMethodDef methods[] = {
    {"tolist", column_tolist, METH_NOARGS, "tolist($self, /)\n--\n\nA list, with None for null."},
    {"valid", column_valid, METH_NOARGS,
     "valid($self, /)\n--\n\nA byte for each row, 0 where it is null; None when no row is."},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))column_arrow, METH_VARARGS | METH_KEYWORDS,
     "__arrow_c_array__($self, requested_schema=None)\n--\n\nThe column by Arrow's C interface."},
    {0}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Answers about a column of keys: bools or ints, of which some may be null.\n\n"
                "A sequence; pyarrow.array(c), polars.Series(c) and numpy.asarray(c) take it."},
    {Py_tp_dealloc, column_free},
    {Py_tp_repr, column_repr},
    {Py_tp_methods, methods},
    {Py_sq_length, column_len},
    {Py_sq_item, column_item},
    {Py_bf_getbuffer, column_buffer},
    {0, NULL}};

PyType_Spec py_column_spec = {"tamis.Column", sizeof(column), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int py_column_init(PyObject *module) {
    column_type = (PyTypeObject *)PyType_FromSpec(&py_column_spec);
    return column_type ? PyModule_AddObjectRef(module, "Column", (PyObject *)column_type) : -1;
}
