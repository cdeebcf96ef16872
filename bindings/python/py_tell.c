/* SPDX-License-Identifier: MIT */
/* What filters, specs, kinds and formats are: as named tuples. */
#include "bindings/python/py.h"

#include <string.h>

#include "tamis_formats.h"

static PyTypeObject *info_type, *plan_type, *kind_type, *option_type, *format_type, *estimate_type;

PyObject *py_text_or_none(const char *text) {
    if (!text || !*text) Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

/* ---- Named tuples --------------------------------------------------------------------------- */

/* Values of a tuple in their order; a NULL among them is an error. */
typedef struct row {
    PyObject *tuple;
    Py_ssize_t n;
} row;

static row begin(PyTypeObject *type) {
    return (row){PyStructSequence_New(type), 0};
}

static void put(row *r, PyObject *value) {
    if (!value) Py_CLEAR(r->tuple);
    if (r->tuple)
        PyStructSequence_SetItem(r->tuple, r->n++, value);
    else
        Py_XDECREF(value);
}

static void put_number(row *r, uint64_t number) {
    put(r, PyLong_FromUnsignedLongLong(number));
}

static void put_real(row *r, double number) {
    put(r, PyFloat_FromDouble(number));
}

static void put_bool(row *r, bool is_true) {
    put(r, PyBool_FromLong(is_true));
}

static const char *const ability_names[] = {
    "add",          "share",     "merge", "intersect",  "fold",   "grow",  "own-hash", "remove",
    "count",        "tick",      "list",  "resize",     "log",    "level", "retouch",  NULL,
    "adds-once",    "any-order", "ages",  "may-forget", "get",    "put",   "label",    "built",
    "no-empty-key", "differ",    "trace", "search",     "sketch", "shrink"};

static PyObject *abilities(unsigned bits) {
    PyObject *set = PyFrozenSet_New(NULL);
    for (size_t i = 0; set && i < sizeof ability_names / sizeof ability_names[0]; i++) {
        if (!(bits >> i & 1) || !ability_names[i]) continue;
        PyObject *name = PyUnicode_FromString(ability_names[i]);
        if (!name || PySet_Add(set, name)) Py_CLEAR(set);
        Py_XDECREF(name);
    }
    return set;
}

static PyObject *shape(const char *const names[], const uint64_t words[]) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < TAMIS_WORDS; i++) {
        if (!names[i]) continue;
        PyObject *number = PyLong_FromUnsignedLongLong(words[i]);
        if (!number || PyDict_SetItemString(dict, names[i], number)) Py_CLEAR(dict);
        Py_XDECREF(number);
    }
    return dict;
}

PyObject *py_estimate_new(struct tamis_estimate estimate) {
    row r = begin(estimate_type);
    put_real(&r, estimate.value);
    put_real(&r, estimate.error);
    return r.tuple;
}

/* ---- Filters -------------------------------------------------------------------------------- */

static PyObject *make_info(const struct tamis_info *i) {
    row r = begin(info_type);
    put(&r, PyUnicode_FromString(i->kind));
    put(&r, PyUnicode_FromString(i->contract));
    put_number(&r, i->capacity);
    put_number(&r, i->items);
    put(&r, py_estimate_new(i->items_now));
    put_real(&r, i->fpr_asked);
    put_real(&r, i->fpr_expected);
    put_real(&r, i->fpr_now);
    put_real(&r, i->fill);
    put_number(&r, i->payload_bytes);
    put_number(&r, i->stored_bytes);
    put_number(&r, i->probes);
    put(&r, PyUnicode_FromString(i->hash));
    put_number(&r, i->seed);
    put(&r, PyUnicode_FromString(i->key_place));
    put(&r, shape(i->word_name, i->word));
    put(&r, abilities(i->abilities));
    put_number(&r, i->reliable_count);
    put_bool(&r, i->is_view);
    put_bool(&r, i->is_saturated);
    put_bool(&r, i->is_degraded);
    put(&r, PyUnicode_FromString(i->caveat));
    return r.tuple;
}

static PyObject *filter_info(PyObject *self, PyObject *none) {
    (void)none;
    py_filter *f = (py_filter *)self;
    struct tamis_info info = TAMIS_INFO_INIT;
    if (!py_gate_begin(&f->gate, PY_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS tamis_measure(f->filter, &info);
    Py_END_ALLOW_THREADS py_gate_end(&f->gate, PY_READ);
    return make_info(&info);
}

static PyObject *filter_rate(PyObject *self, PyObject *none) {
    (void)none;
    py_filter *f = (py_filter *)self;
    double rate;
    if (!py_gate_begin(&f->gate, PY_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS rate = tamis_fpr_now(f->filter);
    Py_END_ALLOW_THREADS py_gate_end(&f->gate, PY_READ);
    return PyFloat_FromDouble(rate);
}

static PyObject *filter_approx(PyObject *self, PyObject *none) {
    (void)none;
    py_filter *f = (py_filter *)self;
    struct tamis_estimate estimate;
    tamis_status rc;
    if (!py_gate_begin(&f->gate, PY_READ)) return NULL;
    Py_BEGIN_ALLOW_THREADS rc = tamis_items_now(f->filter, &estimate);
    Py_END_ALLOW_THREADS py_gate_end(&f->gate, PY_READ);
    return rc ? py_raise(rc) : py_estimate_new(estimate);
}

static PyObject *filter_remaining(PyObject *self, PyObject *none) {
    (void)none;
    py_filter *f = (py_filter *)self;
    if (!py_gate_pass(&f->gate, PY_READ)) return NULL;
    const uint64_t n = tamis_remaining(f->filter);
    py_gate_leave(&f->gate, PY_READ);
    if (n == UINT64_MAX) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(n);
}

PyObject *py_filter_kind(PyObject *self, void *unused) {
    (void)unused;
    py_filter *f = (py_filter *)self;
    struct tamis_info info = TAMIS_INFO_INIT;
    if (!py_gate_pass(&f->gate, PY_READ)) return NULL;
    tamis_get_info(f->filter, &info);
    py_gate_leave(&f->gate, PY_READ);
    return PyUnicode_FromString(info.kind);
}

PyObject *py_filter_spec_text(PyObject *self, void *unused) {
    (void)unused;
    py_filter *f = (py_filter *)self;
    char text[2048];
    if (!py_gate_pass(&f->gate, PY_READ)) return NULL;
    const size_t n = tamis_spec(f->filter, text, sizeof text);
    py_gate_leave(&f->gate, PY_READ);
    return PyUnicode_FromStringAndSize(text, (Py_ssize_t)(n < sizeof text ? n : sizeof text - 1));
}

PyMethodDef py_filter_tell_methods[] = {
    {"info", filter_info, METH_NOARGS,
     "info($self, /)\n--\n\nWhat the filter is and how full; reads all of it.\n\n"
     ">>> f = tamis.Filter(capacity=1000)\n>>> f.info().kind, f.info().items\n('blocked', 0)"},
    {"rate", filter_rate, METH_NOARGS,
     "rate($self, /)\n--\n\nThe false-positive rate now, from the bits that are set."},
    {"approx_items", filter_approx, METH_NOARGS,
     "approx_items($self, /)\n--\n\nThe number of distinct keys, estimated from the bits: (value, "
     "error)."},
    {"remaining", filter_remaining, METH_NOARGS,
     "remaining($self, /)\n--\n\nHow many more keys fit; None where any number does."},
    {0}};

/* ---- Specs ---------------------------------------------------------------------------------- */

static PyObject *plan(PyObject *module, PyObject *args, PyObject *names) {
    (void)module;
    struct tamis_plan p = TAMIS_PLAN_INIT;
    PyObject *spec = py_spec_read(args, names, NULL);
    const char *text = spec ? PyUnicode_AsUTF8AndSize(spec, NULL) : NULL;
    const tamis_status rc = text ? tamis_plan_spec(text, &p) : TAMIS_OK;
    row r = {0};
    if (text && rc) py_raise(rc);
    if (text && !rc) {
        r = begin(plan_type);
        put(&r, PyUnicode_FromString(p.kind));
        put(&r, Py_NewRef(spec));
        put_number(&r, p.capacity);
        put_real(&r, p.fpr_asked);
        put_real(&r, p.fpr_expected);
        put_real(&r, p.bits_per_key);
        put_number(&r, p.payload_bytes);
        put_number(&r, p.stored_bytes);
        put_number(&r, p.probes);
        put(&r, shape(p.word_name, p.word));
        put(&r, abilities(p.abilities));
        put_number(&r, p.reliable_count);
    }
    Py_XDECREF(spec);
    return r.tuple;
}

/* ---- Kinds and formats ---------------------------------------------------------------------- */

static PyObject *options_of(const struct tamis_option *options, size_t n) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; tuple && i < n; i++) {
        row r = begin(option_type);
        put(&r, PyUnicode_FromString(options[i].name));
        put(&r, py_text_or_none(options[i].choices));
        put_number(&r, options[i].min);
        put_number(&r, options[i].max);
        put(&r, py_text_or_none(options[i].default_value));
        put(&r, py_text_or_none(options[i].help));
        if (r.tuple)
            PyTuple_SetItem(tuple, (Py_ssize_t)i, r.tuple);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static int append(PyObject *list, PyObject *item) {
    const int rc = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return rc;
}

static PyObject *kinds(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    struct tamis_kind_info info = TAMIS_KIND_INFO_INIT;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && tamis_kind_at(i, &info); i++) {
        row r = begin(kind_type);
        put(&r, PyUnicode_FromString(info.name));
        put_number(&r, info.id);
        put(&r, PyUnicode_FromString(info.contract));
        put(&r, abilities(info.abilities));
        put(&r, options_of(info.options, info.option_count));
        if (append(list, r.tuple)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *formats(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    struct tamis_format_info info = TAMIS_FORMAT_INFO_INIT;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && tamis_format_at(i, &info); i++) {
        row r = begin(format_type);
        put(&r, PyUnicode_FromString(info.name));
        put(&r, PyUnicode_FromString(info.system));
        put(&r, PyUnicode_FromString(info.kinds));
        put(&r, PyUnicode_FromString(info.keys));
        put(&r, py_text_or_none(info.limits));
        put(&r, options_of(info.params, info.param_count));
        put_bool(&r, info.can_write);
        put_bool(&r, info.has_several);
        if (append(list, r.tuple)) Py_CLEAR(list);
    }
    return list;
}

PyMethodDef py_tell_functions[] = {
    {"plan", PY_WITH_NAMES(plan), METH_VARARGS | METH_KEYWORDS,
     "plan(spec=None, /, **options)\n--\n\nWhat a filter would cost, without making it.\n\n"
     ">>> p = tamis.plan('fuse', capacity=10**6, fpr='1/256')\n"
     ">>> p.stored_bytes < 1.3e6 and 'built' in p.abilities\nTrue"},
    {"kinds", kinds, METH_NOARGS,
     "kinds()\n--\n\nAll kinds: name, id, contract, abilities, options.\n\n"
     ">>> [k.name for k in tamis.kinds()][:3]\n['classic', 'blocked', 'split']"},
    {"formats", formats, METH_NOARGS,
     "formats()\n--\n\nFormats of other systems, for Filter.read(path, format=...).\n\n"
     ">>> 'guava' in [f.name for f in tamis.formats()]\nTrue"},
    {0}};

/* ---- The types ------------------------------------------------------------------------------ */

#define FIELD(name) \
    { name, NULL }
static PyStructSequence_Field info_fields[] = {
    {"kind", "a name of tamis.kinds()"},
    {"contract", "what the kind promises, in one line"},
    {"capacity", "the number of keys it was planned for"},
    {"items", "adds so far, removes taken off"},
    {"items_now", "distinct keys, estimated from the bits: (value, error)"},
    {"fpr_asked", "the rate that was asked for; 0 when a size was"},
    {"fpr_expected", "by formula, with `capacity` keys"},
    {"fpr_now", "from the bits that are set now"},
    {"fill", "the share of bits that are set"},
    {"payload_bytes", "the bits"},
    {"stored_bytes", "the image"},
    {"probes", "bits or cells that a query reads"},
    {"hash", "xxh3, xxh64, mix8, sip13 or own"},
    {"seed", "of the hash"},
    {"key_place", "where the secret is: none, inside, outside"},
    {"shape", "the words of its shape, by name"},
    {"abilities", "a frozenset of words"},
    {"reliable_count", "up to this, counts are never too low"},
    {"is_view", "it is read-only: a map or a view"},
    {"is_saturated", "most non-members are answered yes"},
    {"is_degraded", "the rate is more than twice what was asked"},
    {"caveat", "what is no longer guaranteed; empty for nothing"},
    {0}};
static PyStructSequence_Field plan_fields[] = {FIELD("kind"),
                                               FIELD("spec"),
                                               FIELD("capacity"),
                                               FIELD("fpr_asked"),
                                               FIELD("fpr_expected"),
                                               FIELD("bits_per_key"),
                                               FIELD("payload_bytes"),
                                               FIELD("stored_bytes"),
                                               FIELD("probes"),
                                               FIELD("shape"),
                                               FIELD("abilities"),
                                               FIELD("reliable_count"),
                                               {0}};
static PyStructSequence_Field kind_fields[] = {
    FIELD("name"), FIELD("id"), FIELD("contract"), FIELD("abilities"), FIELD("options"), {0}};
static PyStructSequence_Field option_fields[] = {
    FIELD("name"),    FIELD("choices"), FIELD("min"), FIELD("max"),
    FIELD("default"), FIELD("help"),    {0}};
static PyStructSequence_Field format_fields[] = {
    FIELD("name"),      FIELD("system"),      FIELD("kinds"),
    FIELD("keys"),      FIELD("limits"),      FIELD("params"),
    FIELD("can_write"), FIELD("has_several"), {0}};
static PyStructSequence_Field estimate_fields[] = {FIELD("value"), FIELD("error"), {0}};

int py_tell_init(PyObject *module) {
    static struct {
        PyTypeObject **type;
        const char *name;
        PyStructSequence_Desc desc;
    } all[] = {
        {&info_type, "Info", {"tamis.Info", "What a filter is and how full.", info_fields, 22}},
        {&plan_type, "Plan", {"tamis.Plan", "What a filter would cost.", plan_fields, 12}},
        {&kind_type, "Kind", {"tamis.Kind", "A kind of filter.", kind_fields, 5}},
        {&option_type, "Option", {"tamis.Option", "An option of a spec.", option_fields, 6}},
        {&format_type, "Format", {"tamis.Format", "Another system's format.", format_fields, 8}},
        {&estimate_type,
         "Estimate",
         {"tamis.Estimate", "A number with its standard error.", estimate_fields, 2}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i].type = PyStructSequence_NewType(&all[i].desc);
        if (!*all[i].type || PyModule_AddObjectRef(module, all[i].name, (PyObject *)*all[i].type))
            return -1;
    }
    return 0;
}
