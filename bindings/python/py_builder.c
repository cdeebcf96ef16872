/* SPDX-License-Identifier: MIT */
/* Builders: keys in as a stream, a filter out. */
#include "bindings/python/py.h"

#include <stdlib.h>
#include <string.h>

typedef struct builder {
    PyObject_HEAD tamis_builder *builder;
    py_gate gate;
    py_form form;
    PyObject *progress; /* of the finish that runs */
    bool is_interrupted;
} builder;

/* ---- Objects -------------------------------------------------------------------------------- */

static const char *const stages[] = {"sort", "build", "verify"};

/* Called without the GIL, by one thread at a time, which may be one of the builder's. */
static bool report(void *ctx, enum tamis_stage stage, uint64_t done, uint64_t total) {
    builder *b = ctx;
    if (!b->progress) return true;
    if (b->is_interrupted) return false;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *said = PyObject_CallFunction(b->progress, "sKK", stages[stage],
                                           (unsigned long long)done, (unsigned long long)total);
    const bool goes_on = said;
    if (!said) {
        /* The exception belongs to the thread that finishes. */
        PyObject *type, *error, *trace;
        PyErr_Fetch(&type, &error, &trace);
        PyErr_NormalizeException(&type, &error, &trace);
        py_replace(&b->progress, error);
        b->is_interrupted = true;
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    Py_XDECREF(said);
    PyGILState_Release(state);
    return goes_on;
}

/* The options of a builder, taken out of the names. */
static int read_options(PyObject *names, struct tamis_builder_options *to, PyObject **temp) {
    PyObject *limit = py_take_name(names, "memory_limit"), *dir = py_take_name(names, "temp_dir");
    PyObject *verify = py_take_name(names, "verify");
    int rc = limit ? py_read_number(limit, "memory_limit", UINT64_MAX, &to->memory_limit) : 0;
    if (!rc && dir && !PyUnicode_FSConverter(dir, temp)) rc = -1;
    if (!rc && *temp) to->temp_dir = PyBytes_AsString(*temp);
    if (!rc && verify) to->verify = PyObject_IsTrue(verify) > 0;
    Py_XDECREF(limit);
    Py_XDECREF(dir);
    Py_XDECREF(verify);
    return rc;
}

static PyObject *create(PyTypeObject *type, PyObject *spec, const py_options *options,
                        struct tamis_builder_options *more) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    builder *b = (builder *)alloc(type, 0);
    if (!b) return NULL;
    py_gate_init(&b->gate);
    more->filter = &options->options;
    more->threads = options->options.threads;
    more->progress = report;
    more->progress_ctx = b;
    const tamis_status rc =
        tamis_builder_create_with(&b->builder, PyUnicode_AsUTF8AndSize(spec, NULL), more);
    if (!rc) return (PyObject *)b;
    py_raise(rc);
    Py_DECREF(b);
    return NULL;
}

static PyObject *builder_create(PyTypeObject *type, PyObject *args, PyObject *names) {
    struct tamis_builder_options more = TAMIS_BUILDER_OPTIONS_INIT;
    py_options options;
    PyObject *rest = names ? PyDict_Copy(names) : PyDict_New(), *temp = NULL, *self = NULL;
    if (rest && !read_options(rest, &more, &temp)) {
        PyObject *spec = py_spec_read(args, rest, &options);
        if (spec) self = create(type, spec, &options, &more);
        Py_XDECREF(spec);
    }
    Py_XDECREF(temp);
    Py_XDECREF(rest);
    return self;
}

static void builder_free(PyObject *self) {
    builder *b = (builder *)self;
    PyTypeObject *type = Py_TYPE(self);
    tamis_builder_free(b->builder);
    Py_XDECREF(b->progress);
    py_gate_destroy(&b->gate);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static tamis_status add_keys(void *of, const struct tamis_key *keys, size_t n, uint8_t *hit,
                             uint64_t *value) {
    (void)hit, (void)value;
    return tamis_builder_add_many(((builder *)of)->builder, keys, n);
}

static tamis_status add_numbers(void *of, const uint64_t *keys, size_t n, uint8_t *hit,
                                uint64_t *value) {
    (void)hit, (void)value;
    return tamis_builder_add_u64s(((builder *)of)->builder, keys, n);
}

static tamis_status add_packed(void *of, const void *keys, size_t width, size_t n, uint8_t *hit,
                               uint64_t *value) {
    (void)hit, (void)value;
    return tamis_builder_add_packed(((builder *)of)->builder, keys, width, n);
}

static tamis_status exclude_keys(void *of, const struct tamis_key *keys, size_t n, uint8_t *hit,
                                 uint64_t *value) {
    tamis_status rc = TAMIS_OK;
    (void)hit, (void)value;
    for (size_t i = 0; i < n && !rc; i++)
        rc = tamis_builder_exclude(((builder *)of)->builder, keys[i].bytes, keys[i].len);
    return rc;
}

static tamis_status exclude_numbers(void *of, const uint64_t *keys, size_t n, uint8_t *hit,
                                    uint64_t *value) {
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        uint8_t bytes[8];
        for (unsigned j = 0; j < 8; j++) bytes[j] = (uint8_t)(keys[i] >> 8 * j);
        const struct tamis_key key = {bytes, sizeof bytes};
        rc = exclude_keys(of, &key, 1, hit, value);
    }
    return rc;
}

static tamis_status exclude_packed(void *of, const void *keys, size_t width, size_t n, uint8_t *hit,
                                   uint64_t *value) {
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        const struct tamis_key key = {(const char *)keys + i * width, width};
        rc = exclude_keys(of, &key, 1, hit, value);
    }
    return rc;
}

/* The first keys decide the note. The gate is held. */
static int claim_for(void *of, py_family family) {
    builder *b = of;
    if (b->form.kind != PY_FORM_ANY) return py_form_takes(&b->form, family) ? 0 : -1;
    const tamis_status rc = tamis_builder_set_note(b->builder, "encoding", py_form_note(family));
    if (rc)
        py_raise(rc);
    else
        b->form = py_form_named(py_form_note(family));
    return rc ? -1 : 0;
}

static const py_work add_work = {PY_WRITE,    false,      false,    add_keys,
                                 add_numbers, add_packed, claim_for};
static const py_work exclude_work = {PY_WRITE,        false,          false,    exclude_keys,
                                     exclude_numbers, exclude_packed, claim_for};

static PyObject *run(PyObject *self, const py_work *work, PyObject *args) {
    builder *b = (builder *)self;
    bool is_array;
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++) {
        py_batch *batch = py_batch_new(work, b, &b->gate, &b->form, NULL);
        const int rc = batch ? py_batch_run(batch, PyTuple_GetItem(args, i), &is_array) : -1;
        py_batch_free(batch);
        if (rc) return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *builder_update(PyObject *self, PyObject *args) {
    return run(self, &add_work, args);
}

static PyObject *builder_exclude_many(PyObject *self, PyObject *args) {
    return run(self, &exclude_work, args);
}

/* One key is a batch of one object. */
static PyObject *run_one(PyObject *self, const py_work *work, PyObject *key) {
    builder *b = (builder *)self;
    py_batch *batch = py_batch_new(work, b, &b->gate, &b->form, NULL);
    const int rc = batch ? py_batch_object(batch, key) || py_batch_flush(batch) : -1;
    py_batch_free(batch);
    if (rc) return NULL;
    Py_RETURN_NONE;
}

static PyObject *builder_add(PyObject *self, PyObject *key) {
    return run_one(self, &add_work, key);
}

static PyObject *builder_exclude(PyObject *self, PyObject *key) {
    return run_one(self, &exclude_work, key);
}

static int put_pair(builder *b, PyObject *object, PyObject *number) {
    uint64_t value;
    py_key key;
    tamis_status rc = TAMIS_OK;
    if (py_read_number(number, "value", UINT64_MAX, &value)) return -1;
    if (py_key_read(&b->form, object, &key)) return -1;
    int failed = !py_gate_pass(&b->gate, PY_WRITE);
    if (!failed) {
        failed = claim_for(b, key.family);
        if (!failed && key.family == PY_NUMBER && !key.room)
            rc = tamis_builder_put_u64(b->builder, key.number, value);
        else if (!failed)
            rc = tamis_builder_put(b->builder, key.bytes, key.len, value);
        py_gate_leave(&b->gate, PY_WRITE);
    }
    py_key_free(&key);
    if (rc) py_raise(rc);
    return failed || rc ? -1 : 0;
}

static PyObject *builder_put(PyObject *self, PyObject *args) {
    PyObject *key, *value;
    if (!PyArg_ParseTuple(args, "OO:put", &key, &value)) return NULL;
    if (put_pair((builder *)self, key, value)) return NULL;
    Py_RETURN_NONE;
}

static int put_item(builder *b, PyObject *item) {
    if (PyTuple_Check(item) && PyTuple_Size(item) == 2)
        return put_pair(b, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1));
    PyErr_Format(PyExc_TypeError, "%R is not a pair: give a dict, or tuples (key, value)", item);
    return -1;
}

static PyObject *builder_put_many(PyObject *self, PyObject *pairs) {
    PyObject *items = PyDict_Check(pairs) ? PyDict_Items(pairs) : Py_NewRef(pairs), *item;
    PyObject *iterator = items ? PyObject_GetIter(items) : NULL;
    int rc = 0;
    Py_XDECREF(items);
    while (iterator && !rc && (item = PyIter_Next(iterator))) {
        rc = put_item((builder *)self, item);
        Py_DECREF(item);
    }
    Py_XDECREF(iterator);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ---- The rest ------------------------------------------------------------------------------- */

static PyObject *builder_label(PyObject *self, PyObject *args) {
    builder *b = (builder *)self;
    const char *name;
    if (!PyArg_ParseTuple(args, "s:label", &name)) return NULL;
    if (!py_gate_pass(&b->gate, PY_WRITE)) return NULL;
    const tamis_status rc = tamis_builder_label(b->builder, name);
    py_gate_leave(&b->gate, PY_WRITE);
    return py_done(rc);
}

static PyObject *builder_set_note(PyObject *self, PyObject *args) {
    builder *b = (builder *)self;
    const char *name, *value;
    if (!PyArg_ParseTuple(args, "sz:set_note", &name, &value)) return NULL;
    if (!py_gate_pass(&b->gate, PY_WRITE)) return NULL;
    const tamis_status rc = tamis_builder_set_note(b->builder, name, value);
    if (!rc && strcmp(name, "encoding") == 0)
        b->form = value ? py_form_named(value) : (py_form){.kind = PY_FORM_ANY};
    py_gate_leave(&b->gate, PY_WRITE);
    return py_done(rc);
}

/* Either a filter or a file; an exception of the callback is raised here. */
static PyObject *finish(builder *b, PyObject *progress, const char *path) {
    tamis *made = NULL;
    tamis_status rc;
    if (!py_gate_begin(&b->gate, PY_WRITE)) return NULL;
    b->progress = progress == Py_None ? NULL : Py_NewRef(progress);
    b->is_interrupted = false;
    Py_BEGIN_ALLOW_THREADS rc =
        path ? tamis_builder_finish_to(b->builder, path) : tamis_builder_finish(b->builder, &made);
    Py_END_ALLOW_THREADS PyObject *said = b->progress;
    b->progress = NULL;
    py_gate_end(&b->gate, PY_WRITE);
    if (rc && b->is_interrupted && said)
        PyErr_SetObject((PyObject *)Py_TYPE(said), said);
    else if (rc)
        py_raise(rc);
    Py_XDECREF(said);
    if (rc) return NULL;
    return path ? Py_NewRef(Py_None) : py_filter_new(py_public_filter(), made);
}

static PyObject *builder_finish(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"progress", NULL};
    PyObject *progress = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O:finish", words, &progress)) return NULL;
    return finish((builder *)self, progress, NULL);
}

static PyObject *builder_save(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"path", "progress", NULL};
    PyObject *path = NULL, *progress = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O&|O:save", words, PyUnicode_FSConverter, &path,
                                     &progress))
        return NULL;
    PyObject *done = finish((builder *)self, progress, PyBytes_AsString(path));
    Py_DECREF(path);
    return done;
}

static PyMethodDef methods[] = {
    {"add", builder_add, METH_O, "add($self, key, /)\n--\n\nTake a key."},
    {"update", builder_update, METH_VARARGS,
     "update($self, /, *many)\n--\n\nTake all keys of each argument, as Filter.update does."},
    {"put", builder_put, METH_VARARGS,
     "put($self, key, value, /)\n--\n\nTake a key with its value, for maps.\n\n"
     ">>> b = tamis.Builder('bloomier:value=8')\n>>> b.put('cat', 7); b.put('dog', 9)\n"
     ">>> m = b.finish()\n>>> m['cat'], m.get('dog')\n(7, 9)"},
    {"put_many", builder_put_many, METH_O,
     "put_many($self, pairs, /)\n--\n\nTake keys with their values: a dict, or pairs.\n\n"
     ">>> b = tamis.Builder('bloomier:value=8')\n>>> b.put_many({'cat': 7, 'dog': 9})\n"
     ">>> b.finish().get_many(['dog', 'cat'])\n[9, 7]"},
    {"exclude", builder_exclude, METH_O,
     "exclude($self, key, /)\n--\n\nTake a key that must be answered no (cascade)."},
    {"exclude_many", builder_exclude_many, METH_VARARGS,
     "exclude_many($self, /, *many)\n--\n\nThe same for many keys."},
    {"label", builder_label, METH_VARARGS,
     "label($self, name, /)\n--\n\nKeys that follow belong to this label (labels).\n\n"
     ">>> b = tamis.Builder('labels')\n>>> b.label('pets'); b.update(['cat', 'dog'])\n"
     ">>> b.label('wild'); b.update(['wolf', 'cat'])\n>>> f = b.finish()\n"
     ">>> f.which('cat'), f.which('wolf')\n(['pets', 'wild'], ['wild'])"},
    {"set_note", builder_set_note, METH_VARARGS,
     "set_note($self, name, value, /)\n--\n\nSet a note of the future filter."},
    {"finish", PY_WITH_NAMES(builder_finish), METH_VARARGS | METH_KEYWORDS,
     "finish($self, progress=None)\n--\n\n"
     "Make the filter. progress(stage, done, total) is called now and then; what it raises stops."},
    {"save", PY_WITH_NAMES(builder_save), METH_VARARGS | METH_KEYWORDS,
     "save($self, path, progress=None)\n--\n\n"
     "Make the filter as a file, piece by piece: it need not fit into memory."},
    {0}};

int py_builder_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         "Builder(spec=None, *, memory_limit=None, temp_dir=None, threads=None, verify=False, "
         "**options)\n--\n\n"
         "Keys in as a stream, a filter out: the way to kinds that are built once (fuse, ribbon,\n"
         "bloomier, labels, ...) and to filters that are sized for the keys that came.\n\n"
         ">>> b = tamis.Builder('fuse', fpr='1/256')\n>>> b.update(range(1000))\n"
         ">>> f = b.finish()\n>>> 7 in f, len(f)\n(True, 1000)"},
        {Py_tp_new, builder_create},
        {Py_tp_dealloc, builder_free},
        {Py_tp_methods, methods},
        {0, NULL}};
    PyType_Spec spec = {"tamis.Builder", sizeof(builder), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject *type = PyType_FromSpec(&spec);
    const int rc = type ? PyModule_AddObjectRef(module, "Builder", type) : -1;
    Py_XDECREF(type);
    return rc;
}
