/* SPDX-License-Identifier: MIT */
/* The module tamis._tamis: one interpreter, with or without a GIL. */
#include "bindings/python/py.h"

static PyObject *public_filter;

PyTypeObject *py_public_filter(void) {
    return public_filter ? (PyTypeObject *)public_filter : py_filter_type;
}

/* tamis.Filter is a class of Python's on Base: what has no other class to be of is one of it. */
static PyObject *use_filter(PyObject *module, PyObject *type) {
    (void)module;
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "it is not a class");
        return NULL;
    }
    Py_INCREF(type);
    py_replace(&public_filter, type);
    Py_RETURN_NONE;
}

static PyObject *version(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return PyUnicode_FromString(tamis_version());
}

static PyObject *cpu(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return PyUnicode_FromString(tamis_cpu());
}

static PyMethodDef functions[] = {
    {"_use_filter", use_filter, METH_O, NULL},
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of the library."},
    {"cpu", cpu, METH_NOARGS,
     "cpu()\n--\n\nWhich instructions answer queries: plain, avx2, avx512 or neon."},
    {0}};

static int start(PyObject *module) {
    if (py_filter_type) {
        PyErr_SetString(PyExc_ImportError, "tamis works in the main interpreter alone");
        return -1;
    }
    return py_errors_init() || py_filter_init(module) || py_builder_init(module) ||
                   py_column_init(module) || py_tell_init(module) ||
                   PyModule_AddFunctions(module, functions) ||
                   PyModule_AddFunctions(module, py_tell_functions) ||
                   PyModule_AddFunctions(module, py_set_functions) ||
                   PyModule_AddFunctions(module, py_format_functions)
               ? -1
               : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)start},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "tamis._tamis",
                                 .m_doc = "The C half of tamis.", .m_slots = slots};

PyMODINIT_FUNC PyInit__tamis(void);
PyMODINIT_FUNC PyInit__tamis(void) {
    return PyModuleDef_Init(&definition);
}
