/* SPDX-License-Identifier: MIT */
/* Specs and options from the names of a call: Filter("cuckoo", capacity=10**6, fpr=0.01). */
#include "bindings/python/py.h"

#include <string.h>

int py_read_number(PyObject *object, const char *name, uint64_t max, uint64_t *number) {
    PyObject *index = PyBool_Check(object) ? NULL : PyNumber_Index(object);
    unsigned long long value = 0;
    if (index) {
        value = PyLong_AsUnsignedLongLong(index);
        Py_DECREF(index);
    }
    if (index && value <= max && !PyErr_Occurred()) {
        *number = value;
        return 0;
    }
    PyErr_Clear();
    PyErr_Format(index ? PyExc_OverflowError : PyExc_TypeError,
                 "%s: %R is not a whole number from 0 to %llu", name, object,
                 (unsigned long long)max);
    return -1;
}

PyObject *py_take_name(PyObject *names, const char *name) {
    PyObject *value = PyDict_GetItemString(names, name);
    if (!value) return NULL;
    Py_INCREF(value);
    if (PyDict_DelItemString(names, name)) Py_CLEAR(value);
    if (value == Py_None) Py_CLEAR(value);
    return value;
}

static int read_secret(PyObject *secret, py_options *to) {
    char *bytes;
    Py_ssize_t len;
    if (!PyBytes_Check(secret) || PyBytes_AsStringAndSize(secret, &bytes, &len) || len != 16) {
        PyErr_SetString(PyExc_ValueError, "secret: it is not bytes of length 16");
        return -1;
    }
    memcpy(to->secret_bytes, bytes, 16);
    to->options.secret = to->secret_bytes;
    return 0;
}

static int read_limit(PyObject *names, const char *name, uint64_t max, uint64_t *number) {
    PyObject *value = py_take_name(names, name);
    const int rc = value ? py_read_number(value, name, max, number) : 0;
    Py_XDECREF(value);
    return rc || PyErr_Occurred() ? -1 : 0;
}

int py_options_read(PyObject *names, py_options *to) {
    uint64_t threads = 0;
    to->options = (struct tamis_options)TAMIS_OPTIONS_INIT;
    PyObject *secret = py_take_name(names, "secret");
    const int rc = secret ? read_secret(secret, to) : 0;
    Py_XDECREF(secret);
    if (rc || read_limit(names, "max_bytes", UINT64_MAX, &to->options.max_bytes) ||
        read_limit(names, "threads", 1024, &threads))
        return -1;
    to->options.threads = (unsigned)threads;
    return 0;
}

/* ---- Specs ---------------------------------------------------------------------------------- */

enum { MAX_SPEC = 2048 };

static PyObject *text_of(PyObject *value) {
    if (PyBool_Check(value)) return PyUnicode_FromString(value == Py_True ? "yes" : "no");
    return PyObject_Str(value);
}

static PyObject *with_option(const char *spec, PyObject *name, PyObject *value) {
    char text[MAX_SPEC];
    PyObject *made = NULL, *said = text_of(value);
    const char *option = PyUnicode_AsUTF8AndSize(name, NULL);
    const char *to = said ? PyUnicode_AsUTF8AndSize(said, NULL) : NULL;
    if (option && to) {
        const size_t n = tamis_spec_set(spec, option, to, text, sizeof text);
        if (n == 0)
            py_raise(TAMIS_INVALID);
        else if (n >= sizeof text)
            PyErr_Format(PyExc_ValueError, "%s: the spec is longer than %d bytes", option,
                         MAX_SPEC - 1);
        else
            made = PyUnicode_FromStringAndSize(text, (Py_ssize_t)n);
    }
    Py_XDECREF(said);
    return made;
}

static PyObject *with_options(PyObject *spec, PyObject *names) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    Py_INCREF(spec);
    while (spec && PyDict_Next(names, &at, &name, &value)) {
        if (value == Py_None) continue;
        const char *text = PyUnicode_AsUTF8AndSize(spec, NULL);
        PyObject *more = text ? with_option(text, name, value) : NULL;
        py_replace(&spec, more);
    }
    return spec;
}

/* The spec among the positional arguments, or by its name. */
static PyObject *find_spec(PyObject *args, PyObject *names) {
    PyObject *spec = NULL;
    if (!PyArg_ParseTuple(args, "|O", &spec)) return NULL;
    Py_XINCREF(spec);
    if (!spec) spec = py_take_name(names, "spec");
    if (PyErr_Occurred()) return NULL;
    if (spec == Py_None) Py_CLEAR(spec);
    if (!spec) return PyUnicode_FromString("");
    if (PyUnicode_Check(spec)) return spec;
    PyErr_Format(
        PyExc_TypeError,
        "spec: %R is not a str such as \"blocked:capacity=1M,fpr=1%%\"; give other options "
        "by name",
        spec);
    Py_DECREF(spec);
    return NULL;
}

PyObject *py_spec_read(PyObject *args, PyObject *names, py_options *options) {
    PyObject *rest = names ? PyDict_Copy(names) : PyDict_New();
    if (!rest) return NULL;
    PyObject *made = NULL, *spec = find_spec(args, rest);
    if (spec && (!options || !py_options_read(rest, options))) made = with_options(spec, rest);
    Py_XDECREF(spec);
    Py_DECREF(rest);
    return made;
}
