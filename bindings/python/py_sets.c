/* SPDX-License-Identifier: MIT */
/* Two filters: unions, intersections, comparisons, differences. */
#include "bindings/python/py.h"

#include <stdlib.h>
#include <string.h>

#include "tamis_engine.h"
#include "tamis_special.h"

/* ---- Two gates ------------------------------------------------------------------------------ */

/* Always in the order of their addresses; one that is both is entered once. */
static bool enter(py_filter *first, py_access how, py_filter *second) {
    if (first == second) return py_gate_begin(&first->gate, how);
    const bool is_ordered = (uintptr_t)first < (uintptr_t)second;
    py_gate *low = is_ordered ? &first->gate : &second->gate;
    py_gate *high = is_ordered ? &second->gate : &first->gate;
    const py_access of_low = is_ordered ? how : PY_READ, of_high = is_ordered ? PY_READ : how;
    if (!py_gate_begin(low, of_low)) return false;
    if (py_gate_begin(high, of_high)) return true;
    py_gate_end(low, of_low);
    return false;
}

static void leave(py_filter *first, py_access how, py_filter *second) {
    py_gate_end(&first->gate, how);
    if (first != second) py_gate_end(&second->gate, PY_READ);
}

static py_filter *filter_in(PyObject *object) {
    const int is_one = PyObject_IsInstance(object, (PyObject *)py_filter_type);
    if (is_one > 0) return (py_filter *)object;
    if (is_one == 0) PyErr_Format(PyExc_TypeError, "%R is not a tamis.Filter", object);
    return NULL;
}

/* ---- Merging -------------------------------------------------------------------------------- */

static bool is_known(const py_filter *f) {
    return f->form.kind != PY_FORM_ANY;
}

static bool is_same_form(const py_filter *a, const py_filter *b) {
    const char *canon = tamis_note(a->filter, "canon"), *other = tamis_note(b->filter, "canon");
    if (!canon != !other || (canon && strcmp(canon, other) != 0)) return false;
    if (!is_known(a) || !is_known(b) || canon) return true;
    if (a->form.kind != b->form.kind) return false;
    return a->form.kind == PY_FORM_TEXT || a->form.kind == PY_FORM_INT ||
           strcmp(a->form.encoding, b->form.encoding) == 0;
}

static int check_forms(const py_filter *a, const py_filter *b) {
    if (is_same_form(a, b)) return 0;
    const char *one = tamis_note(a->filter, "encoding"), *two = tamis_note(b->filter, "encoding");
    PyObject *message = PyUnicode_FromFormat(
        "keys of the two filters have different forms: the note encoding is %s in one and %s in "
        "the other, or their notes canon differ; set_note() changes a note, if you know that the "
        "forms are the same",
        one ? one : "missing", two ? two : "missing");
    if (message) py_raise_message(TAMIS_MISMATCH, message);
    Py_XDECREF(message);
    return -1;
}

/* An empty filter has the form of what comes in. */
static tamis_status take_form(py_filter *into, const py_filter *from) {
    const char *encoding = tamis_note(from->filter, "encoding");
    if (is_known(into) || !encoding) return TAMIS_OK;
    const tamis_status rc = tamis_set_note(into->filter, "encoding", encoding);
    if (!rc) into->form = py_form_of(into->filter);
    return rc;
}

typedef tamis_status join_call(tamis *, const tamis *);

static PyObject *join(PyObject *self, PyObject *object, join_call *call) {
    py_filter *into = (py_filter *)self, *from = filter_in(object);
    tamis_status rc;
    if (!from || !enter(into, PY_WRITE, from)) return NULL;
    const int failed = check_forms(into, from);
    if (!failed) {
        const bool was_any = !is_known(into);
        rc = take_form(into, from);
        Py_BEGIN_ALLOW_THREADS if (!rc) rc = call(into->filter, from->filter);
        Py_END_ALLOW_THREADS if (rc) py_raise(rc);
        if (rc && was_any) py_filter_unclaim(into, was_any);
        into->form = py_form_of(into->filter);
    }
    leave(into, PY_WRITE, from);
    if (failed || rc) return NULL;
    Py_RETURN_NONE;
}

static PyObject *filter_merge(PyObject *self, PyObject *other) {
    return join(self, other, tamis_merge);
}

static PyObject *filter_intersect(PyObject *self, PyObject *other) {
    return join(self, other, tamis_intersect);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

typedef tamis_status compare_call(const tamis *, const tamis *, struct tamis_estimate *);

static PyObject *compare(PyObject *args, compare_call *call) {
    PyObject *a, *b;
    py_filter *first, *second;
    struct tamis_estimate estimate;
    tamis_status rc;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) return NULL;
    if (!(first = filter_in(a)) || !(second = filter_in(b))) return NULL;
    if (!enter(first, PY_READ, second)) return NULL;
    const int failed = check_forms(first, second);
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS rc = call(first->filter, second->filter, &estimate);
        Py_END_ALLOW_THREADS if (rc) py_raise(rc);
    }
    leave(first, PY_READ, second);
    return failed || rc ? NULL : py_estimate_new(estimate);
}

static PyObject *similarity(PyObject *module, PyObject *args) {
    (void)module;
    return compare(args, tamis_similarity);
}

static PyObject *overlap(PyObject *module, PyObject *args) {
    (void)module;
    return compare(args, tamis_overlap);
}

static PyObject *difference_size(PyObject *module, PyObject *args) {
    (void)module;
    return compare(args, tamis_difference_size);
}

/* Equal bytes of two images, piece by piece. */
static tamis_status are_equal(const tamis *a, const tamis *b, bool *is_equal) {
    enum { PIECE = 1 << 16 };
    const uint64_t size = tamis_image_size(a);
    tamis_status rc = TAMIS_OK;
    *is_equal = size == tamis_image_size(b);
    char *pieces = *is_equal ? malloc(2 * (size_t)PIECE) : NULL;
    if (!pieces) return *is_equal ? TAMIS_NOMEM : TAMIS_OK;
    for (uint64_t at = 0; at < size && *is_equal && !rc; at += PIECE) {
        const size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        rc = tamis_serialize_at(a, at, pieces, n);
        if (!rc) rc = tamis_serialize_at(b, at, pieces + PIECE, n);
        if (!rc) *is_equal = memcmp(pieces, pieces + PIECE, n) == 0;
    }
    free(pieces);
    return rc;
}

PyObject *py_filter_compare(PyObject *self, PyObject *object, int operation) {
    const int is_filter = PyObject_IsInstance(object, (PyObject *)py_filter_type);
    py_filter *a = (py_filter *)self, *b = (py_filter *)object;
    bool is_equal = true;
    tamis_status rc = TAMIS_OK;
    if (is_filter < 0) return NULL;
    if (!is_filter || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    if (a != b) {
        if (!enter(a, PY_READ, b)) return NULL;
        Py_BEGIN_ALLOW_THREADS rc = are_equal(a->filter, b->filter, &is_equal);
        Py_END_ALLOW_THREADS leave(a, PY_READ, b);
    }
    return rc ? py_raise(rc) : PyBool_FromLong(is_equal == (operation == Py_EQ));
}

/* ---- Differences ---------------------------------------------------------------------------- */

/* Called with the GIL. */
static bool take_hash(void *ctx, uint64_t hash, bool is_first) {
    PyObject **lists = ctx, *number = PyLong_FromUnsignedLongLong(hash);
    const bool is_good = number && PyList_Append(lists[is_first ? 0 : 1], number) == 0;
    Py_XDECREF(number);
    return is_good;
}

static PyObject *list_differences(py_filter *first, py_filter *second) {
    PyObject *lists[2] = {PyList_New(0), PyList_New(0)}, *result = NULL;
    if (lists[0] && lists[1]) {
        const tamis_status rc = tamis_difference(first->filter, second->filter, take_hash, lists);
        if (rc && rc != TAMIS_PARTIAL && !PyErr_Occurred()) py_raise(rc);
        if (!PyErr_Occurred())
            result = Py_BuildValue("OON", lists[0], lists[1], PyBool_FromLong(rc == TAMIS_OK));
    }
    Py_XDECREF(lists[0]);
    Py_XDECREF(lists[1]);
    return result;
}

static PyObject *differences(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *a, *b, *result = NULL;
    py_filter *first, *second;
    if (!PyArg_ParseTuple(args, "OO", &a, &b)) return NULL;
    if (!(first = filter_in(a)) || !(second = filter_in(b))) return NULL;
    if (!enter(first, PY_READ, second)) return NULL;
    if (!check_forms(first, second)) result = list_differences(first, second);
    leave(first, PY_READ, second);
    return result;
}

/* ---- Methods -------------------------------------------------------------------------------- */

PyMethodDef py_filter_set_methods[] = {
    {"merge", filter_merge, METH_O,
     "merge($self, other, /)\n--\n\nBecome the filter of both sets, as f |= other does."},
    {"intersect", filter_intersect, METH_O,
     "intersect($self, other, /)\n--\n\nKeep what both have, as f &= other does."},
    {0}};

PyMethodDef py_set_functions[] = {
    {"similarity", similarity, METH_VARARGS,
     "similarity(a, b, /)\n--\n\n"
     "The Jaccard similarity of two sets: common keys over all keys, 0 to 1, with its error.\n\n"
     ">>> a = tamis.Filter('minhash')\n>>> b = a.copy()\n"
     ">>> a.update(range(1000)), b.update(range(500, 1500))\n(None, None)\n"
     ">>> 0.25 < tamis.similarity(a, b).value < 0.42\nTrue"},
    {"overlap", overlap, METH_VARARGS,
     "overlap(a, b, /)\n--\n\nHow many keys two filters have in common, with the error."},
    {"difference_size", difference_size, METH_VARARGS,
     "difference_size(a, b, /)\n--\n\nHow many keys only one of two iblt tables has, estimated."},
    {"differences", differences, METH_VARARGS,
     "differences(a, b, /)\n--\n\n"
     "Hashes (see Filter.hash) that only one of two iblt tables has: (of a, of b, is_whole).\n"
     "is_whole is False when there are more differences than the tables can list.\n\n"
     ">>> a = tamis.Filter('iblt:differences=100')\n>>> b = a.copy()\n"
     ">>> a.update(range(1000)), b.update(range(2, 1000))\n(None, None)\n"
     ">>> only_a, only_b, is_whole = tamis.differences(a, b)\n"
     ">>> sorted(only_a) == sorted([a.hash(0), a.hash(1)]), only_b, is_whole\n(True, [], True)"},
    {0}};
