/* SPDX-License-Identifier: MIT */
/* Filters and one key at a time: what most programs do most of the time. */
#include "bindings/python/py.h"

#include <string.h>

#include "tamis_engine.h"

/* ---- A key --------------------------------------------------------------------------------- */

/* The usual keys without a detour. */
static inline int read_key(const py_filter *f, PyObject *object, py_key *key) {
    if (Py_IS_TYPE(object, &PyUnicode_Type) && f->form.kind == PY_FORM_TEXT) {
        Py_ssize_t len;
        key->bytes = PyUnicode_AsUTF8AndSize(object, &len);
        key->len = (size_t)len;
        key->family = PY_TEXT;
        key->owner = NULL;
        key->room = NULL;
        key->is_impossible = false;
        if (key->bytes) return 0;
        PyErr_Clear();
    }
    if (Py_IS_TYPE(object, &PyLong_Type) && f->form.kind == PY_FORM_INT) {
        int overflow;
        key->number = (uint64_t)PyLong_AsLongLongAndOverflow(object, &overflow);
        key->family = PY_NUMBER;
        key->owner = NULL;
        key->room = NULL;
        key->is_impossible = false;
        if (!overflow) return 0;
    }
    return py_key_read(&f->form, object, key);
}

static inline void free_key(py_key *key) {
    if (key->owner || key->room) py_key_free(key);
}

static inline bool is_number(const py_key *key) {
    return key->family == PY_NUMBER && !key->room;
}

int py_filter_contains(PyObject *self, PyObject *object) {
    py_filter *f = (py_filter *)self;
    py_key key;
    int found = -1;
    if (f->is_sketch) return py_filter_refuse_query(f);
    if (read_key(f, object, &key)) return -1;
    if (py_gate_pass(&f->gate, PY_READ)) {
        found = key.is_impossible ? 0
                : is_number(&key) ? tamis_has_u64(f->filter, key.number)
                                  : tamis_has(f->filter, key.bytes, key.len);
        py_gate_leave(&f->gate, PY_READ);
    }
    free_key(&key);
    return found;
}

/* What changes the filter by one key: the bytes of the key are `bytes`, also of numbers. */
typedef tamis_status change(tamis *, const py_key *, uint64_t value);

static tamis_status do_add(tamis *f, const py_key *key, uint64_t value) {
    (void)value;
    return is_number(key) ? tamis_add_u64(f, key->number) : tamis_add(f, key->bytes, key->len);
}

static tamis_status do_remove(tamis *f, const py_key *key, uint64_t value) {
    (void)value;
    return is_number(key) ? tamis_remove_u64(f, key->number)
                          : tamis_remove(f, key->bytes, key->len);
}

static tamis_status do_put(tamis *f, const py_key *key, uint64_t value) {
    return is_number(key) ? tamis_put_u64(f, key->number, value)
                          : tamis_put(f, key->bytes, key->len, value);
}

static void spell_number(const py_key *key, uint8_t bytes[8]) {
    for (unsigned i = 0; i < 8; i++) bytes[i] = (uint8_t)(key->number >> 8 * i);
}

static tamis_status do_add_times(tamis *f, const py_key *key, uint64_t times) {
    uint8_t bytes[8];
    if (!is_number(key)) return tamis_add_times(f, key->bytes, key->len, times);
    spell_number(key, bytes);
    return tamis_add_times(f, bytes, sizeof bytes, times);
}

static tamis_status do_add_new(tamis *f, const py_key *key, uint64_t is_new) {
    bool *out = (bool *)(uintptr_t)is_new;
    uint8_t bytes[8];
    if (!is_number(key)) return tamis_add_new(f, key->bytes, key->len, out);
    spell_number(key, bytes);
    return tamis_add_new(f, bytes, sizeof bytes, out);
}

/* Runs a change within the gate: -1 with an exception, else 0 with its status. */
static inline int change_key(PyObject *self, PyObject *object, change *call, bool claims,
                             uint64_t value, tamis_status *rc) {
    py_filter *f = (py_filter *)self;
    py_key key;
    bool was_any = false;
    int failed = -1;
    if (read_key(f, object, &key)) return -1;
    if (key.is_impossible && claims)
        PyErr_Format(PyExc_OverflowError, "%R is not a number that %s can have", object,
                     f->form.encoding);
    else if (py_gate_pass(&f->gate, PY_WRITE)) {
        failed = 0;
        if (claims && f->form.kind == PY_FORM_ANY)
            failed = py_filter_claim(f, key.family, &was_any);
        if (!failed) *rc = key.is_impossible ? TAMIS_NOT_FOUND : call(f->filter, &key, value);
        if (was_any && !failed && *rc) py_filter_unclaim(f, was_any);
        py_gate_leave(&f->gate, PY_WRITE);
    }
    free_key(&key);
    return failed;
}

static PyObject *filter_add(PyObject *self, PyObject *object) {
    tamis_status rc;
    if (change_key(self, object, do_add, true, 0, &rc)) return NULL;
    return py_done(rc);
}

static PyObject *filter_add_new(PyObject *self, PyObject *object) {
    tamis_status rc;
    bool is_new = false;
    if (change_key(self, object, do_add_new, true, (uint64_t)(uintptr_t)&is_new, &rc)) return NULL;
    return rc ? py_raise(rc) : PyBool_FromLong(is_new);
}

static PyObject *filter_add_times(PyObject *self, PyObject *args) {
    tamis_status rc;
    PyObject *key, *times;
    uint64_t n;
    if (!PyArg_ParseTuple(args, "OO:add_times", &key, &times)) return NULL;
    if (py_read_number(times, "times", UINT64_MAX, &n)) return NULL;
    if (change_key(self, key, do_add_times, true, n, &rc)) return NULL;
    return py_done(rc);
}

static PyObject *filter_remove(PyObject *self, PyObject *object) {
    tamis_status rc;
    if (change_key(self, object, do_remove, false, 0, &rc)) return NULL;
    return py_done(rc);
}

static PyObject *filter_discard(PyObject *self, PyObject *object) {
    tamis_status rc;
    if (change_key(self, object, do_remove, false, 0, &rc)) return NULL;
    if (rc && rc != TAMIS_NOT_FOUND) return py_raise(rc);
    return PyBool_FromLong(rc == TAMIS_OK);
}

int py_filter_put(PyObject *self, PyObject *key, PyObject *value) {
    tamis_status rc;
    uint64_t number;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "keys of a map cannot be deleted");
        return -1;
    }
    if (py_read_number(value, "value", UINT64_MAX, &number)) return -1;
    if (change_key(self, key, do_put, true, number, &rc)) return -1;
    if (rc) py_raise(rc);
    return rc ? -1 : 0;
}

static PyObject *filter_put(PyObject *self, PyObject *args) {
    PyObject *key, *value;
    if (!PyArg_ParseTuple(args, "OO:put", &key, &value)) return NULL;
    if (py_filter_put(self, key, value)) return NULL;
    Py_RETURN_NONE;
}

/* ---- A key, asked ---------------------------------------------------------------------------- */

static PyObject *filter_count(PyObject *self, PyObject *object) {
    py_filter *f = (py_filter *)self;
    py_key key;
    uint64_t count = 0;
    if (read_key(f, object, &key)) return NULL;
    const bool may = py_gate_pass(&f->gate, PY_READ);
    if (may) {
        if (!key.is_impossible)
            count = is_number(&key) ? tamis_count_u64(f->filter, key.number)
                                    : tamis_count(f->filter, key.bytes, key.len);
        py_gate_leave(&f->gate, PY_READ);
    }
    free_key(&key);
    return may ? PyLong_FromUnsignedLongLong(count) : NULL;
}

/* 1 with the value, 0 for a key that is not there, -1 with an exception. */
static int get_value(PyObject *self, PyObject *object, uint64_t *value) {
    py_filter *f = (py_filter *)self;
    py_key key;
    int found = -1;
    if (!py_filter_is_able(f, TAMIS_CAN_GET, "has no values") || read_key(f, object, &key))
        return -1;
    if (py_gate_pass(&f->gate, PY_READ)) {
        found = key.is_impossible ? 0
                : is_number(&key) ? tamis_get_u64(f->filter, key.number, value)
                                  : tamis_get(f->filter, key.bytes, key.len, value);
        py_gate_leave(&f->gate, PY_READ);
    }
    free_key(&key);
    return found;
}

static PyObject *filter_get(PyObject *self, PyObject *args) {
    PyObject *key, *otherwise = Py_None;
    uint64_t value;
    if (!PyArg_ParseTuple(args, "O|O:get", &key, &otherwise)) return NULL;
    const int found = get_value(self, key, &value);
    if (found < 0) return NULL;
    return found ? PyLong_FromUnsignedLongLong(value) : Py_NewRef(otherwise);
}

PyObject *py_filter_subscript(PyObject *self, PyObject *key) {
    uint64_t value;
    const int found = get_value(self, key, &value);
    if (found == 0) PyErr_SetObject(PyExc_KeyError, key);
    return found > 0 ? PyLong_FromUnsignedLongLong(value) : NULL;
}

static PyObject *label_names(py_filter *f, const uint64_t *labels, size_t n) {
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        const char *name = tamis_label_name(f->filter, labels ? labels[i] : i);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        if (text)
            PyList_SetItem(list, (Py_ssize_t)i, text);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *labels_of_key(py_filter *f, const py_key *key) {
    uint8_t number[8];
    uint64_t few[64], *labels = few;
    const void *bytes = is_number(key) ? (const void *)number : key->bytes;
    const size_t len = is_number(key) ? sizeof number : key->len;
    if (is_number(key)) spell_number(key, number);
    const size_t n = key->is_impossible ? 0 : tamis_labels(f->filter, bytes, len, few, 64);
    if (n > 64) {
        labels = PyMem_Malloc(n * sizeof *labels);
        if (!labels) return PyErr_NoMemory();
        (void)tamis_labels(f->filter, bytes, len, labels, n);
    }
    PyObject *names = label_names(f, labels, n);
    if (labels != few) PyMem_Free(labels);
    return names;
}

static PyObject *filter_which(PyObject *self, PyObject *object) {
    py_filter *f = (py_filter *)self;
    PyObject *names = NULL;
    py_key key;
    if (!py_filter_is_able(f, TAMIS_CAN_LABEL, "has no labels") || read_key(f, object, &key))
        return NULL;
    if (py_gate_pass(&f->gate, PY_READ)) {
        names = labels_of_key(f, &key);
        py_gate_leave(&f->gate, PY_READ);
    }
    free_key(&key);
    return names;
}

PyObject *py_filter_labels(PyObject *self, void *unused) {
    (void)unused;
    py_filter *f = (py_filter *)self;
    if (!py_gate_pass(&f->gate, PY_READ)) return NULL;
    PyObject *names = label_names(f, NULL, (size_t)tamis_label_count(f->filter));
    py_gate_leave(&f->gate, PY_READ);
    return names;
}

static PyObject *filter_hash(PyObject *self, PyObject *object) {
    py_filter *f = (py_filter *)self;
    uint8_t number[8];
    uint64_t hash = 0;
    py_key key;
    if (read_key(f, object, &key)) return NULL;
    if (is_number(&key)) spell_number(&key, number);
    const bool may = py_gate_pass(&f->gate, PY_READ);
    if (may) {
        hash = is_number(&key) ? tamis_hash(f->filter, number, sizeof number)
                               : tamis_hash(f->filter, key.bytes, key.len);
        py_gate_leave(&f->gate, PY_READ);
    }
    free_key(&key);
    return may ? PyLong_FromUnsignedLongLong(hash) : NULL;
}

/* ---- Methods -------------------------------------------------------------------------------- */

PyMethodDef py_filter_one_methods[] = {
    {"add", filter_add, METH_O,
     "add($self, key, /)\n--\n\nAdd a key.\n\n"
     "Adding it again is harmless; kinds that count, count it once more.\n\n"
     ">>> f = tamis.Filter(capacity=1000)\n>>> f.add('cat')\n>>> 'cat' in f\nTrue"},
    {"add_new", filter_add_new, METH_O,
     "add_new($self, key, /)\n--\n\nAdd a key unless it is there; was it new?\n\n"
     ">>> f = tamis.Filter(capacity=1000)\n>>> f.add_new('cat'), f.add_new('cat')\n(True, False)"},
    {"add_times", filter_add_times, METH_VARARGS,
     "add_times($self, key, times, /)\n--\n\nAdd a key `times` times, for kinds that count."},
    {"remove", filter_remove, METH_O,
     "remove($self, key, /)\n--\n\nUndo one add of a key; NotFoundError (a KeyError) for a key "
     "that "
     "is not there.\n\nOnly remove what was added: removing a false positive damages another key."},
    {"discard", filter_discard, METH_O,
     "discard($self, key, /)\n--\n\nAs remove; False instead of an error for a key that is not "
     "there."},
    {"count", filter_count, METH_O,
     "count($self, key, /)\n--\n\nHow often the key was added and not removed; 1 or 0 of kinds "
     "that do not count.\n\n"
     ">>> f = tamis.Filter('counting:capacity=1000')\n>>> f.update(['cat', 'cat'])\n"
     ">>> f.count('cat'), f.count('dog')\n(2, 0)"},
    {"get", filter_get, METH_VARARGS,
     "get($self, key, default=None, /)\n--\n\nThe value of a key in a map (bloomier, "
     "approximator)."},
    {"put", filter_put, METH_VARARGS,
     "put($self, key, value, /)\n--\n\nSet the value of a key, as f[key] = value does."},
    {"which", filter_which, METH_O,
     "which($self, key, /)\n--\n\nThe labels of the sets that have the key (labels)."},
    {"hash", filter_hash, METH_O,
     "hash($self, key, /)\n--\n\nThe 64-bit hash by which the filter knows the key."},
    {0}};
