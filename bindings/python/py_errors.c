/* SPDX-License-Identifier: MIT */
/* Statuses become exceptions: the classes are those of tamis._errors, by number. */
#include "bindings/python/py.h"

#include <string.h>

static PyObject *classes; /* a dict */

int py_errors_init(void) {
    PyObject *module = PyImport_ImportModule("tamis._errors");
    if (!module) return -1;
    py_replace(&classes, PyObject_GetAttrString(module, "BY_STATUS"));
    Py_DECREF(module);
    return classes ? 0 : -1;
}

PyObject *py_raise_message(tamis_status status, PyObject *message) {
    PyObject *number = PyLong_FromLong(status);
    PyObject *class = number ? PyDict_GetItemWithError(classes, number) : NULL;
    Py_XDECREF(number);
    if (class)
        PyErr_SetObject(class, message);
    else if (!PyErr_Occurred())
        PyErr_SetObject(PyExc_RuntimeError, message);
    return NULL;
}

/* The sentence may quote bytes of a key. */
PyObject *py_why(void) {
    const char *why = tamis_why();
    return PyUnicode_DecodeUTF8(why, (Py_ssize_t)strlen(why), "replace");
}

PyObject *py_raise(tamis_status status) {
    PyObject *message = py_why();
    if (message) py_raise_message(status, message);
    Py_XDECREF(message);
    return NULL;
}

PyObject *py_done(tamis_status status) {
    if (status) return py_raise(status);
    Py_RETURN_NONE;
}
