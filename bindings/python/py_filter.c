/* SPDX-License-Identifier: MIT */
/* The class of filters: one key at a time, many at once, and what changes the whole. */
#include "bindings/python/py.h"

#include <string.h>

#include "tamis_special.h"

PyTypeObject *py_filter_type;

/* ---- Objects -------------------------------------------------------------------------------- */

static unsigned abilities_of(const tamis *filter) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(filter, &info);
    return info.abilities;
}

PyObject *py_filter_new(PyTypeObject *type, tamis *filter) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    py_filter *f = (py_filter *)alloc(type, 0);
    if (!f) {
        tamis_free(filter);
        return NULL;
    }
    f->filter = filter;
    f->form = py_form_of(filter);
    f->is_sketch = abilities_of(filter) & TAMIS_IS_SKETCH;
    py_gate_init(&f->gate);
    return (PyObject *)f;
}

static PyObject *filter_create(PyTypeObject *type, PyObject *args, PyObject *names) {
    tamis *made;
    py_options options;
    tamis_status rc;
    PyObject *spec = py_spec_read(args, names, &options);
    if (!spec) return NULL;
    const char *text = PyUnicode_AsUTF8AndSize(spec, NULL);
    Py_BEGIN_ALLOW_THREADS rc = tamis_create_with(&made, text, &options.options);
    Py_END_ALLOW_THREADS Py_DECREF(spec);
    PyObject *self = rc ? py_raise(rc) : py_filter_new(type, made);
    return self;
}

static void filter_free(PyObject *self) {
    py_filter *f = (py_filter *)self;
    PyTypeObject *type = Py_TYPE(self);
    tamis_free(f->filter);
    if (f->viewed.obj) PyBuffer_Release(&f->viewed);
    Py_XDECREF(f->path);
    py_gate_destroy(&f->gate);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- The note of the first key -------------------------------------------------------------- */

int py_filter_claim(py_filter *f, py_family family, bool *was_any) {
    *was_any = f->form.kind == PY_FORM_ANY;
    if (!*was_any) return py_form_takes(&f->form, family) ? 0 : -1;
    const tamis_status rc = tamis_set_note(f->filter, "encoding", py_form_note(family));
    if (!rc) f->form.kind = py_form_of_family(family);
    if (!rc) strcpy(f->form.encoding, py_form_note(family));
    if (rc) py_raise(rc);
    return rc ? -1 : 0;
}

void py_filter_unclaim(py_filter *f, bool was_any) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(f->filter, &info);
    if (!was_any || info.items) return;
    if (tamis_set_note(f->filter, "encoding", NULL) == TAMIS_OK)
        f->form = (py_form){.kind = PY_FORM_ANY};
}

/* ---- What a kind can do --------------------------------------------------------------------- */

static void refuse(py_filter *f, const char *what) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(f->filter, &info);
    PyObject *message = PyUnicode_FromFormat("%s: this kind %s", info.kind, what);
    if (message) py_raise_message(TAMIS_UNSUPPORTED, message);
    Py_XDECREF(message);
}

bool py_filter_is_able(py_filter *f, unsigned ability, const char *what) {
    const bool is_able = abilities_of(f->filter) & ability;
    if (!is_able) refuse(f, what);
    return is_able;
}

int py_filter_refuse_query(py_filter *f) {
    refuse(f, "describes sets, not single keys: every key may be there");
    return -1;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* A call on the whole filter, without the GIL. */
typedef tamis_status whole_call(tamis *, uint64_t);

static PyObject *change_whole(PyObject *self, whole_call *call, uint64_t number) {
    py_filter *f = (py_filter *)self;
    tamis_status rc;
    if (!py_gate_begin(&f->gate, PY_WRITE)) return NULL;
    Py_BEGIN_ALLOW_THREADS rc = call(f->filter, number);
    Py_END_ALLOW_THREADS py_gate_end(&f->gate, PY_WRITE);
    return py_done(rc);
}

static tamis_status do_tick(tamis *f, uint64_t unused) {
    (void)unused;
    return tamis_tick(f);
}

static tamis_status do_clear(tamis *f, uint64_t unused) {
    (void)unused;
    return tamis_clear(f);
}

static tamis_status do_shrink(tamis *f, uint64_t keep) {
    return tamis_shrink(f, (unsigned)keep);
}

static PyObject *filter_tick(PyObject *self, PyObject *none) {
    (void)none;
    return change_whole(self, do_tick, 0);
}

static PyObject *filter_clear(PyObject *self, PyObject *none) {
    (void)none;
    return change_whole(self, do_clear, 0);
}

static PyObject *filter_resize(PyObject *self, PyObject *capacity) {
    uint64_t n;
    if (py_read_number(capacity, "capacity", UINT64_MAX, &n)) return NULL;
    return change_whole(self, tamis_resize, n);
}

static PyObject *filter_fold(PyObject *self, PyObject *by) {
    uint64_t n;
    if (py_read_number(by, "by", UINT64_MAX, &n)) return NULL;
    return change_whole(self, tamis_fold, n);
}

static PyObject *filter_shrink(PyObject *self, PyObject *keep) {
    uint64_t n;
    if (py_read_number(keep, "keep", 16, &n)) return NULL;
    return change_whole(self, do_shrink, n);
}

/* ---- The class ------------------------------------------------------------------------------ */

static PyMethodDef methods[] = {
    {"tick", filter_tick, METH_NOARGS,
     "tick($self, /)\n--\n\nAdvance time by one step: old keys expire (window)."},
    {"clear", filter_clear, METH_NOARGS,
     "clear($self, /)\n--\n\nEmpty the filter; shape and notes stay."},
    {"resize", filter_resize, METH_O,
     "resize($self, capacity, /)\n--\n\nMake room for more keys, or for fewer (quotient, "
     "multiset)."},
    {"fold", filter_fold, METH_O,
     "fold($self, by, /)\n--\n\nMake the filter `by` times smaller, at a higher rate."},
    {"shrink", filter_shrink, METH_O,
     "shrink($self, keep, /)\n--\n\nKeep only some bits of each number of a sketch (minhash)."},
    {0}};

static PyGetSetDef getset[] = {
    {"labels", py_filter_labels, NULL, "The names of all labels; an empty list for other kinds.",
     NULL},
    {"path", py_filter_path, NULL, "The file that is mapped, or None.", NULL},
    {"notes", py_filter_notes, NULL, "A dict of the notes in the image.", NULL},
    {"spec", py_filter_spec_text, NULL, "The spec of an empty filter like this one.", NULL},
    {"kind", py_filter_kind, NULL, "The name of the kind.", NULL},
    {0}};

static Py_ssize_t filter_len(PyObject *self) {
    py_filter *f = (py_filter *)self;
    struct tamis_info info = TAMIS_INFO_INIT;
    if (!py_gate_pass(&f->gate, PY_READ)) return -1;
    tamis_get_info(f->filter, &info);
    py_gate_leave(&f->gate, PY_READ);
    return info.items > PY_SSIZE_T_MAX ? PY_SSIZE_T_MAX : (Py_ssize_t)info.items;
}

/* One table of methods, of those in each file; the class keeps it. */
static PyMethodDef *all_methods(void) {
    static PyMethodDef all[64];
    PyMethodDef *const tables[] = {
        py_filter_one_methods,   py_filter_many_methods, methods,
        py_filter_bytes_methods, py_filter_set_methods,  py_filter_tell_methods};
    size_t n = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (PyMethodDef *one = tables[i]; one->ml_name; one++) all[n++] = *one;
    return all;
}

int py_filter_init(PyObject *module) {
    PyType_Slot slots[] = {{Py_tp_new, filter_create},
                           {Py_tp_dealloc, filter_free},
                           {Py_tp_getset, getset},
                           {Py_sq_contains, py_filter_contains},
                           {Py_mp_length, filter_len},
                           {Py_mp_subscript, py_filter_subscript},
                           {Py_mp_ass_subscript, py_filter_put},
                           {Py_tp_richcompare, py_filter_compare},
                           {Py_bf_getbuffer, py_filter_buffer},
                           {Py_tp_methods, all_methods()},
                           {0, NULL}};
    PyType_Spec spec = {"tamis._tamis.Base", sizeof(py_filter), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    py_filter_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return py_filter_type ? PyModule_AddObjectRef(module, "Base", (PyObject *)py_filter_type) : -1;
}
