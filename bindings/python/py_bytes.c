/* SPDX-License-Identifier: MIT */
/* Filters as bytes: images in memory and in files, formats of other systems, notes. */
#include "bindings/python/py.h"

#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"

/* ---- From bytes ----------------------------------------------------------------------------- */

/* What a class method was given: one object, and options by name. */
static int read_call(PyObject *args, PyObject *names, PyObject **object, PyObject **rest,
                     py_options *options) {
    *rest = names ? PyDict_Copy(names) : PyDict_New();
    if (!*rest) return -1;
    if (PyArg_ParseTuple(args, "O", object) && !py_options_read(*rest, options)) return 0;
    Py_CLEAR(*rest);
    return -1;
}

static int refuse_rest(PyObject *rest) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Next(rest, &at, &name, &value)) return 0;
    PyErr_Format(PyExc_TypeError, "%U: there is no such option here", name);
    return -1;
}

/* The same where no options but those of handles are known. */
static int read_plain_call(PyObject *args, PyObject *names, PyObject **object,
                           py_options *options) {
    PyObject *rest;
    if (read_call(args, names, object, &rest, options)) return -1;
    const int failed = refuse_rest(rest);
    Py_DECREF(rest);
    return failed;
}

static PyObject *filter_from_bytes(PyObject *type, PyObject *args, PyObject *names) {
    PyObject *image;
    py_options options;
    Py_buffer view;
    tamis *made = NULL;
    tamis_status rc;
    if (read_plain_call(args, names, &image, &options) ||
        PyObject_GetBuffer(image, &view, PyBUF_SIMPLE))
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc =
        tamis_load_with(&made, view.buf, (size_t)view.len, &options.options);
    Py_END_ALLOW_THREADS PyBuffer_Release(&view);
    return rc ? py_raise(rc) : py_filter_new((PyTypeObject *)type, made);
}

/* Bytes that may change would be queried without a check. */
static int borrow(PyObject *image, Py_buffer *view) {
    if (PyObject_GetBuffer(image, view, PyBUF_SIMPLE)) return -1;
    if (view->readonly) return 0;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_ValueError,
                    "the buffer is writable, and a view must not change: give bytes, or "
                    "memoryview(buffer).toreadonly() if nobody writes to it any more; from_bytes "
                    "makes a copy");
    return -1;
}

static PyObject *filter_view(PyObject *type, PyObject *args, PyObject *names) {
    PyObject *image;
    py_options options;
    Py_buffer view;
    tamis *made = NULL;
    tamis_status rc;
    if (read_plain_call(args, names, &image, &options) || borrow(image, &view)) return NULL;
    Py_BEGIN_ALLOW_THREADS rc =
        tamis_view_with(&made, view.buf, (size_t)view.len, &options.options);
    Py_END_ALLOW_THREADS PyObject *self =
        rc ? py_raise(rc) : py_filter_new((PyTypeObject *)type, made);
    if (self)
        ((py_filter *)self)->viewed = view;
    else
        PyBuffer_Release(&view);
    return self;
}

/* ---- From files ----------------------------------------------------------------------------- */

typedef tamis_status open_call(tamis **, const char *, const struct tamis_options *);

static PyObject *open_file(PyTypeObject *type, PyObject *path, const py_options *options,
                           open_call *call) {
    PyObject *name;
    tamis *made = NULL;
    tamis_status rc;
    if (!PyUnicode_FSConverter(path, &name)) return NULL;
    const char *text = PyBytes_AsString(name);
    Py_BEGIN_ALLOW_THREADS rc = call(&made, text, &options->options);
    Py_END_ALLOW_THREADS Py_DECREF(name);
    return rc ? py_raise(rc) : py_filter_new(type, made);
}

static PyObject *filter_read(PyObject *type, PyObject *args, PyObject *names) {
    PyObject *path;
    py_options options;
    if (read_plain_call(args, names, &path, &options)) return NULL;
    return open_file((PyTypeObject *)type, path, &options, tamis_read_with);
}

/* The path is kept for pickles: it should be an absolute one. */
static PyObject *filter_map(PyObject *type, PyObject *args, PyObject *names) {
    PyObject *path, *rest, *self = NULL;
    py_options options;
    if (read_call(args, names, &path, &rest, &options)) return NULL;
    PyObject *trusted = py_take_name(rest, "trusted");
    const int is_trusted = trusted ? PyObject_IsTrue(trusted) : 0; /* may raise */
    options.options.is_trusted = is_trusted > 0;
    Py_XDECREF(trusted);
    if (is_trusted >= 0 && !refuse_rest(rest))
        self = open_file((PyTypeObject *)type, path, &options, tamis_map_with);
    Py_DECREF(rest);
    if (self) ((py_filter *)self)->path = Py_NewRef(path);
    return self;
}

PyObject *py_filter_path(PyObject *self, void *unused) {
    (void)unused;
    PyObject *path = ((py_filter *)self)->path;
    return Py_NewRef(path ? path : Py_None);
}

static PyObject *filter_save(PyObject *self, PyObject *path) {
    py_filter *f = (py_filter *)self;
    PyObject *name;
    tamis_status rc;
    if (!PyUnicode_FSConverter(path, &name)) return NULL;
    const char *text = PyBytes_AsString(name);
    const bool may = py_gate_begin(&f->gate, PY_READ);
    if (may) {
        Py_BEGIN_ALLOW_THREADS rc = tamis_save(f->filter, text);
        Py_END_ALLOW_THREADS py_gate_end(&f->gate, PY_READ);
    }
    Py_DECREF(name);
    return may ? py_done(rc) : NULL;
}

/* ---- To bytes ------------------------------------------------------------------------------- */

static PyObject *filter_bytes(PyObject *self, PyObject *none) {
    (void)none;
    py_filter *f = (py_filter *)self;
    tamis_status rc = TAMIS_OK;
    if (!py_gate_begin(&f->gate, PY_READ)) return NULL;
    const uint64_t size = tamis_image_size(f->filter);
    PyObject *image = size <= PY_SSIZE_T_MAX ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size)
                                             : PyErr_NoMemory();
    if (image) {
        char *bytes = PyBytes_AsString(image);
        Py_BEGIN_ALLOW_THREADS rc = tamis_serialize(f->filter, bytes, (size_t)size);
        Py_END_ALLOW_THREADS
    }
    py_gate_end(&f->gate, PY_READ);
    if (rc) {
        Py_CLEAR(image);
        py_raise(rc);
    }
    return image;
}

static PyObject *filter_payload(PyObject *self, PyObject *none) {
    (void)none;
    py_filter *f = (py_filter *)self;
    uint64_t size;
    if (!py_gate_pass(&f->gate, PY_READ)) return NULL;
    const char *payload = tamis_payload(f->filter, &size);
    PyObject *bytes = size <= PY_SSIZE_T_MAX ? PyBytes_FromStringAndSize(payload, (Py_ssize_t)size)
                                             : PyErr_NoMemory();
    py_gate_leave(&f->gate, PY_READ);
    return bytes;
}

/* The image as it is now: the filter may go on changing. */
int py_filter_buffer(PyObject *self, Py_buffer *view, int flags) {
    PyObject *image = filter_bytes(self, NULL);
    view->obj = NULL;
    if (!image) return -1;
    const int rc = PyObject_GetBuffer(image, view, flags);
    Py_DECREF(image);
    return rc;
}

static PyObject *filter_copy(PyObject *self, PyObject *none) {
    (void)none;
    py_filter *f = (py_filter *)self;
    tamis *copy = NULL;
    tamis_status rc;
    if (!py_gate_begin(&f->gate, PY_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS rc = tamis_copy(&copy, f->filter);
    Py_END_ALLOW_THREADS py_gate_end(&f->gate, PY_READ);
    return rc ? py_raise(rc) : py_filter_new(Py_TYPE(self), copy);
}

/* ---- Other systems -------------------------------------------------------------------------- */

static PyObject *filter_import(PyObject *type, PyObject *args, PyObject *names) {
    PyObject *rest = names ? PyDict_Copy(names) : PyDict_New();
    py_options options;
    Py_buffer view;
    const char *format;
    tamis *made = NULL;
    tamis_status rc;
    const int failed = !rest || py_options_read(rest, &options) || refuse_rest(rest);
    Py_XDECREF(rest);
    if (failed || !PyArg_ParseTuple(args, "y*s:import_bytes", &view, &format)) return NULL;
    Py_BEGIN_ALLOW_THREADS rc =
        tamis_import_with(&made, format, view.buf, (size_t)view.len, &options.options);
    Py_END_ALLOW_THREADS PyBuffer_Release(&view);
    return rc ? py_raise(rc) : py_filter_new((PyTypeObject *)type, made);
}

/* Pieces of a written filter, gathered in C memory: the GIL is released meanwhile. */
typedef struct pieces {
    char *bytes;
    size_t size, room;
} pieces;

static bool gather(void *ctx, const void *bytes, size_t size) {
    pieces *p = ctx;
    if (size > p->room - p->size) {
        const size_t room = 2 * p->room + size;
        char *more = realloc(p->bytes, room);
        if (!more) return false;
        p->bytes = more;
        p->room = room;
    }
    if (size) memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
    return true;
}

static PyObject *filter_export(PyObject *self, PyObject *args) {
    py_filter *f = (py_filter *)self;
    const char *format;
    pieces p = {0};
    tamis_status rc;
    if (!PyArg_ParseTuple(args, "s:export", &format)) return NULL;
    if (!py_gate_begin(&f->gate, PY_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS rc = tamis_export(f->filter, format, gather, &p);
    Py_END_ALLOW_THREADS py_gate_end(&f->gate, PY_READ);
    PyObject *bytes = rc == TAMIS_CANCELLED ? PyErr_NoMemory()
                      : rc                  ? py_raise(rc)
                           : PyBytes_FromStringAndSize(p.bytes, (Py_ssize_t)p.size);
    free(p.bytes);
    return bytes;
}

/* One of the filters in a file, as a dict; the GIL is held. */
static bool found_one(void *ctx, const struct tamis_found *found) {
    PyObject *one =
        Py_BuildValue("{s:s,s:s,s:s,s:s,s:K,s:K}", "name", found->name, "choose", found->choose,
                      "kind", found->kind, "keys", found->keys, "offset",
                      (unsigned long long)found->offset, "size", (unsigned long long)found->size);
    const bool is_good = one && PyList_Append(ctx, one) == 0;
    Py_XDECREF(one);
    return is_good;
}

static PyObject *scan(PyObject *module, PyObject *args) {
    (void)module;
    Py_buffer view;
    const char *format;
    if (!PyArg_ParseTuple(args, "y*s:scan", &view, &format)) return NULL;
    PyObject *list = PyList_New(0);
    const tamis_status rc =
        list ? tamis_format_scan(format, view.buf, (size_t)view.len, found_one, list) : TAMIS_NOMEM;
    PyBuffer_Release(&view);
    if (list && !rc && !PyErr_Occurred()) return list;
    Py_XDECREF(list);
    return PyErr_Occurred() ? NULL : py_raise(rc);
}

PyMethodDef py_format_functions[] = {
    {"scan", scan, METH_VARARGS,
     "scan(bytes, format, /)\n--\n\n"
     "List the filters in the bytes of another system's file, as dicts: name, choose (what to say\n"
     "after the format to select it), kind, keys, offset, size."},
    {0}};

/* ---- Notes ---------------------------------------------------------------------------------- */

PyObject *py_filter_notes(PyObject *self, void *unused) {
    (void)unused;
    py_filter *f = (py_filter *)self;
    const char *name, *value;
    PyObject *notes = PyDict_New();
    if (!notes || !py_gate_pass(&f->gate, PY_READ)) {
        Py_XDECREF(notes);
        return NULL;
    }
    for (size_t i = 0; notes && tamis_note_at(f->filter, i, &name, &value); i++) {
        PyObject *text = PyUnicode_FromString(value);
        if (!text || PyDict_SetItemString(notes, name, text)) Py_CLEAR(notes);
        Py_XDECREF(text);
    }
    py_gate_leave(&f->gate, PY_READ);
    return notes;
}

static PyObject *filter_set_note(PyObject *self, PyObject *args) {
    py_filter *f = (py_filter *)self;
    const char *name, *value;
    if (!PyArg_ParseTuple(args, "sz:set_note", &name, &value)) return NULL;
    if (!py_gate_pass(&f->gate, PY_WRITE)) return NULL;
    const tamis_status rc = tamis_set_note(f->filter, name, value);
    if (!rc) f->form = py_form_of(f->filter);
    py_gate_leave(&f->gate, PY_WRITE);
    return py_done(rc);
}

/* ---- Methods -------------------------------------------------------------------------------- */

#define OF_CLASS (METH_CLASS | METH_VARARGS | METH_KEYWORDS)

PyMethodDef py_filter_bytes_methods[] = {
    {"from_bytes", PY_WITH_NAMES(filter_from_bytes), OF_CLASS,
     "from_bytes($type, image, /, *, secret=None, max_bytes=None)\n--\n\n"
     "A filter from an image in memory, which is checked in full.\n\n"
     ">>> f = tamis.Filter(capacity=1000)\n>>> f.add('cat')\n"
     ">>> 'cat' in tamis.Filter.from_bytes(bytes(f))\nTrue"},
    {"view", PY_WITH_NAMES(filter_view), OF_CLASS,
     "view($type, image, /, *, secret=None)\n--\n\n"
     "A read-only filter on an image in memory, without a copy: bytes, or another buffer that "
     "is\nread-only."},
    {"_read", PY_WITH_NAMES(filter_read), OF_CLASS, NULL},
    {"_map", PY_WITH_NAMES(filter_map), OF_CLASS, NULL},
    {"_import", PY_WITH_NAMES(filter_import), OF_CLASS, NULL},
    {"save", filter_save, METH_O,
     "save($self, path, /)\n--\n\nSave the image: `path` is the old file or the whole new one, "
     "whatever happens."},
    {"export", filter_export, METH_VARARGS,
     "export($self, format, /)\n--\n\nThe bytes that another system reads, such as \"guava\"."},
    {"payload", filter_payload, METH_NOARGS,
     "payload($self, /)\n--\n\nThe bits alone, without header and notes."},
    {"copy", filter_copy, METH_NOARGS,
     "copy($self, /)\n--\n\nA copy, which can be changed even when this is a map or a view."},
    {"set_note", filter_set_note, METH_VARARGS,
     "set_note($self, name, value, /)\n--\n\nSet a note in the image; None removes it."},
    {"__bytes__", filter_bytes, METH_NOARGS, "__bytes__($self, /)\n--\n\nThe image."},
    {0}};
