/* SPDX-License-Identifier: MIT */
/* Filters and many keys at once. */
#include "bindings/python/py.h"

#include <string.h>

/* ---- Many keys ------------------------------------------------------------------------------ */

#define WORK(name, strings, integers, packs)                                                       \
    static tamis_status name##_keys(void *f, const struct tamis_key *keys, size_t n, uint8_t *hit, \
                                    uint64_t *value) {                                             \
        (void)hit, (void)value;                                                                    \
        strings;                                                                                   \
    }                                                                                              \
    static tamis_status name##_numbers(void *f, const uint64_t *keys, size_t n, uint8_t *hit,      \
                                       uint64_t *value) {                                          \
        (void)hit, (void)value;                                                                    \
        integers;                                                                                  \
    }                                                                                              \
    static tamis_status name##_packed(void *f, const void *keys, size_t width, size_t n,           \
                                      uint8_t *hit, uint64_t *value) {                             \
        (void)hit, (void)value;                                                                    \
        packs;                                                                                     \
    }

WORK(add, return tamis_add_many(f, keys, n), return tamis_add_u64s(f, keys, n),
     return tamis_add_packed(f, keys, width, n))
WORK(has, tamis_has_many(f, keys, n, hit); return TAMIS_OK, tamis_has_u64s(f, keys, n, hit);
     return TAMIS_OK, tamis_has_packed(f, keys, width, n, hit); return TAMIS_OK)
WORK(count, tamis_count_many(f, keys, n, value);
     return TAMIS_OK, tamis_count_u64s(f, keys, n, value);
     return TAMIS_OK, tamis_count_packed(f, keys, width, n, value); return TAMIS_OK)
WORK(get, tamis_get_many(f, keys, n, value, hit);
     return TAMIS_OK, tamis_get_u64s(f, keys, n, value, hit);
     return TAMIS_OK, tamis_get_packed(f, keys, width, n, value, hit); return TAMIS_OK)

static const py_work add_work = {PY_WRITE, false, false, add_keys, add_numbers, add_packed, NULL};
static const py_work has_work = {PY_READ, true, false, has_keys, has_numbers, has_packed, NULL};
static const py_work count_work = {PY_READ,       false,        true, count_keys,
                                   count_numbers, count_packed, NULL};
static const py_work get_work = {PY_READ, true, true, get_keys, get_numbers, get_packed, NULL};

static py_batch *run(PyObject *self, const py_work *work, PyObject *keys, bool *is_array) {
    py_filter *f = (py_filter *)self;
    py_filter *adds = work->access == PY_WRITE ? f : NULL;
    if (work == &has_work && f->is_sketch) {
        py_filter_refuse_query(f);
        return NULL;
    }
    py_batch *b = py_batch_new(work, f->filter, &f->gate, &f->form, adds);
    if (!b || !py_batch_run(b, keys, is_array)) return b;
    py_batch_free(b);
    return NULL;
}

static PyObject *filter_update(PyObject *self, PyObject *args) {
    bool is_array;
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++) {
        py_batch *b = run(self, &add_work, PyTuple_GetItem(args, i), &is_array);
        if (!b) return NULL;
        py_batch_free(b);
    }
    Py_RETURN_NONE;
}

/* A column for arrays, a list for the rest. */
static PyObject *answers(py_batch *b, bool is_array) {
    PyObject *column = py_column_new(b), *list;
    if (!column || is_array) return column;
    list = PyObject_CallMethod(column, "tolist", NULL);
    Py_DECREF(column);
    return list;
}

/* Writes hits to the caller's array, of as many bytes as there are keys. */
static PyObject *write_out(const py_batch *b, PyObject *out) {
    Py_buffer view;
    if (PyObject_GetBuffer(out, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) return NULL;
    const bool fits = view.itemsize == 1 && (size_t)view.len == b->rows;
    if (fits && b->rows) memcpy(view.buf, b->hit, b->rows);
    if (!fits)
        PyErr_Format(PyExc_ValueError,
                     "out has %zd items of %zd bytes, and there are %zu keys: it "
                     "must be an array of as many bools or bytes",
                     view.itemsize ? view.len / view.itemsize : 0, view.itemsize, b->rows);
    PyBuffer_Release(&view);
    return fits ? Py_NewRef(out) : NULL;
}

static PyObject *filter_has_many(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"keys", "out", NULL};
    PyObject *keys, *out = Py_None;
    bool is_array;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|O:has_many", words, &keys, &out)) return NULL;
    py_batch *b = run(self, &has_work, keys, &is_array);
    if (!b) return NULL;
    PyObject *result = out == Py_None ? answers(b, is_array) : write_out(b, out);
    py_batch_free(b);
    return result;
}

static PyObject *filter_count_many(PyObject *self, PyObject *keys) {
    bool is_array;
    py_batch *b = run(self, &count_work, keys, &is_array);
    PyObject *result = b ? answers(b, is_array) : NULL;
    py_batch_free(b);
    return result;
}

static PyObject *filter_get_many(PyObject *self, PyObject *keys) {
    bool is_array;
    if (!py_filter_is_able((py_filter *)self, TAMIS_CAN_GET, "has no values")) return NULL;
    py_batch *b = run(self, &get_work, keys, &is_array);
    PyObject *result = b ? answers(b, is_array) : NULL;
    py_batch_free(b);
    return result;
}

/* ---- Methods -------------------------------------------------------------------------------- */

PyMethodDef py_filter_many_methods[] = {
    {"update", filter_update, METH_VARARGS,
     "update($self, /, *many)\n--\n\n"
     "Add all keys of each argument: a list or another iterable, an array (numpy and what else\n"
     "exports a buffer), or an Arrow column (pyarrow, polars, pandas), whose nulls are left "
     "out.\n\n"
     "An error leaves the keys before it in the filter.\n\n"
     ">>> f = tamis.Filter(capacity=1000)\n>>> f.update(['ant', 'bee'], {'cat': 1})\n"
     ">>> f.has_many(['ant', 'cat', 'dog'])\n[True, True, False]"},
    {"add_many", filter_update, METH_VARARGS,
     "add_many($self, /, *many)\n--\n\nThe same as update."},
    {"has_many", PY_WITH_NAMES(filter_has_many), METH_VARARGS | METH_KEYWORDS,
     "has_many($self, keys, out=None)\n--\n\nAsk about many keys at once."},
    {"count_many", filter_count_many, METH_O,
     "count_many($self, keys, /)\n--\n\nThe count of each of many keys."},
    {"get_many", filter_get_many, METH_O,
     "get_many($self, keys, /)\n--\n\nThe value of each of many keys, None or null for none."},
    {0}};
