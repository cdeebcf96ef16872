/* SPDX-License-Identifier: MIT */
/* From objects to keys.
 *
 *     str             its UTF-8                        note utf8
 *     bytes, buffers  as they are                      note bytes
 *     int             8 bytes, little-endian           note int64
 *
 * The first key sets the note "encoding"; keys that the others can never be are refused, since the
 * answer would always be no. Texts and bytes may be mixed: "cat" and b"cat" are one key. Images
 * of the command and of databases have other encodings too, and keys are then written in those:
 *
 *     int32 ... uint64be        ints
 *     float ... doublebe        floats
 *     hex, base64, uuid         bytes as they are, or a str that is read so
 *     utf16, utf16be            str */
#include "bindings/python/py.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tamis_formats.h"

static const char what_a_key_is[] =
    "a key is a str, bytes (or a buffer of bytes) or an int from -2**63 to 2**64-1";

/* ---- Forms ---------------------------------------------------------------------------------- */

static bool is_among(const char *word, const char *const *list) {
    while (*list && strcmp(word, *list) != 0) list++;
    return *list;
}

static const char *const plain[] = {"utf8", "bytes", NULL};
static const char *const wide[] = {"int64", "uint64", NULL};
static const char *const whole[] = {"int32",   "uint32",   "int32be", "uint32be",
                                    "int64be", "uint64be", NULL};
static const char *const real[] = {"float", "double", "floatbe", "doublebe", NULL};
static const char *const digits[] = {"hex", "base64", "uuid", NULL};
static const char *const unit16[] = {"utf16", "utf16be", NULL};

py_form py_form_named(const char *encoding) {
    py_form form = {.kind = PY_FORM_REFUSED};
    if (is_among(encoding, plain))
        form.kind = PY_FORM_TEXT;
    else if (is_among(encoding, wide))
        form.kind = PY_FORM_INT;
    else if (is_among(encoding, whole) || is_among(encoding, real) || is_among(encoding, digits) ||
             is_among(encoding, unit16))
        form.kind = PY_FORM_OTHER;
    snprintf(form.encoding, sizeof form.encoding, "%s", encoding);
    return form;
}

py_form py_form_of(const tamis *f) {
    struct tamis_info info = TAMIS_INFO_INIT;
    const char *encoding = tamis_note(f, "encoding");
    if (tamis_note(f, "canon")) return (py_form){.kind = PY_FORM_REFUSED, .encoding = "canon"};
    if (encoding) return py_form_named(encoding);
    tamis_get_info(f, &info);
    return (py_form){.kind = info.items ? PY_FORM_TEXT : PY_FORM_ANY};
}

const char *py_form_note(py_family family) {
    static const char *const notes[] = {
        [PY_NUMBER] = "int64", [PY_TEXT] = "utf8", [PY_BYTES] = "bytes", [PY_REAL] = "double"};
    return notes[family];
}

py_form_kind py_form_of_family(py_family family) {
    return family == PY_NUMBER ? PY_FORM_INT : PY_FORM_TEXT;
}

static bool can_be(const py_form *form, py_family family) {
    switch (form->kind) {
    case PY_FORM_ANY: return family != PY_REAL;
    case PY_FORM_TEXT: return family == PY_TEXT || family == PY_BYTES;
    case PY_FORM_INT: return family == PY_NUMBER;
    case PY_FORM_REFUSED: return false;
    case PY_FORM_OTHER: break;
    }
    if (is_among(form->encoding, whole)) return family == PY_NUMBER;
    if (is_among(form->encoding, real)) return family == PY_REAL;
    if (is_among(form->encoding, unit16)) return family == PY_TEXT;
    return family == PY_TEXT || family == PY_BYTES;
}

bool py_form_takes(const py_form *form, py_family family) {
    static const char *const what[] = {
        [PY_NUMBER] = "an int", [PY_TEXT] = "a str", [PY_BYTES] = "bytes", [PY_REAL] = "a float"};
    if (can_be(form, family)) return true;
    if (family == PY_REAL && (form->kind == PY_FORM_ANY || form->kind == PY_FORM_TEXT))
        PyErr_Format(PyExc_TypeError, "float is not a key: %s", what_a_key_is);
    else if (form->kind == PY_FORM_REFUSED && strcmp(form->encoding, "canon") == 0)
        PyErr_SetString(PyExc_TypeError,
                        "keys of this filter were brought to one form (its note canon says which), "
                        "which the command alone does: ask keys in that form after "
                        "set_note('canon', None)");
    else if (form->kind == PY_FORM_REFUSED)
        PyErr_Format(PyExc_TypeError,
                     "keys of this filter are %s, an encoding that this version does not know",
                     form->encoding);
    else if (*form->encoding)
        PyErr_Format(PyExc_TypeError, "keys of this filter are %s, and %s is never one of them",
                     form->encoding, what[family]);
    else
        PyErr_Format(PyExc_TypeError,
                     "keys of this filter are texts or bytes (it has no note \"encoding\"), and %s "
                     "is never one of them; if another program made its keys of numbers, say so: "
                     "set_note('encoding', 'int64')",
                     what[family]);
    return false;
}

/* ---- Objects -------------------------------------------------------------------------------- */

static int refuse(PyObject *object) {
    PyObject *name = PyType_GetName(Py_TYPE(object));
    if (name) PyErr_Format(PyExc_TypeError, "%U is not a key: %s", name, what_a_key_is);
    Py_XDECREF(name);
    return -1;
}

static int read_int(PyObject *object, py_key *key) {
    int overflow;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    key->number = (uint64_t)value;
    if (overflow == 0) return value == -1 && PyErr_Occurred() ? -1 : 0;
    if (overflow > 0) {
        key->is_unsigned = true;
        key->number = PyLong_AsUnsignedLongLong(object);
        if (key->number != UINT64_MAX || !PyErr_Occurred()) return 0;
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_OverflowError,
                    "the int is too large for a key: keys are from -2**63 to 2**64-1; for larger "
                    "ones give their bytes, as int.to_bytes makes them");
    return -1;
}

static int read_text(PyObject *object, py_key *key) {
    Py_ssize_t len;
    key->bytes = PyUnicode_AsUTF8AndSize(object, &len);
    key->len = (size_t)len;
    if (key->bytes) return 0;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
    PyErr_Clear();
    PyErr_SetString(PyExc_ValueError, "a str with a lone surrogate has no UTF-8 and so is not a "
                                      "key: give bytes, such as os.fsencode(name)");
    return -1;
}

static int read_bytes(PyObject *object, py_key *key) {
    char *bytes;
    Py_ssize_t len;
    if (PyBytes_AsStringAndSize(object, &bytes, &len)) return -1;
    key->bytes = bytes;
    key->len = (size_t)len;
    return 0;
}

/* Scalars of numpy are buffers too: only those of bytes are keys. */
static bool has_bytes(const Py_buffer *view) {
    const char *format = view->format ? view->format : "B";
    if (view->itemsize != 1 || view->ndim > 1) return false;
    if (*format && strchr("@=<>!", *format)) format++;
    return strcmp(format, "B") == 0 || strcmp(format, "b") == 0 || strcmp(format, "c") == 0;
}

/* Times of numpy export the bytes of a number whose unit they do not tell. */
static bool is_time(PyObject *object) {
    PyObject *name = PyType_GetName(Py_TYPE(object));
    const bool is_one = name && (PyUnicode_CompareWithASCIIString(name, "datetime64") == 0 ||
                                 PyUnicode_CompareWithASCIIString(name, "timedelta64") == 0);
    if (!name) PyErr_Clear();
    Py_XDECREF(name);
    return is_one;
}

/* The buffer may change as soon as other code runs: the key is a copy. */
static int read_buffer(PyObject *object, py_key *key) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_STRIDES)) {
        PyErr_Clear();
        return refuse(object);
    }
    const bool is_good = has_bytes(&view) && !is_time(object);
    PyBuffer_Release(&view);
    if (!is_good) return refuse(object);
    key->owner = PyBytes_FromObject(object);
    return key->owner ? read_bytes(key->owner, key) : -1;
}

static int read_index(PyObject *object, py_key *key) {
    PyObject *number = PyNumber_Index(object);
    if (!number) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return refuse(object);
    }
    const int rc = PyBool_Check(number) ? refuse(number) : read_int(number, key);
    Py_DECREF(number);
    return rc;
}

static int read_natural(PyObject *object, py_key *key) {
    if (PyUnicode_Check(object)) {
        key->family = PY_TEXT;
        return read_text(object, key);
    }
    if (PyBytes_Check(object)) {
        key->family = PY_BYTES;
        return read_bytes(object, key);
    }
    if (PyFloat_Check(object)) {
        key->family = PY_REAL;
        key->real = PyFloat_AsDouble(object);
        return 0;
    }
    key->family = PY_NUMBER;
    if (PyBool_Check(object)) return refuse(object);
    if (PyLong_Check(object)) return read_int(object, key);
    if (PyIndex_Check(object)) return read_index(object, key);
    key->family = PY_BYTES;
    return PyObject_CheckBuffer(object) ? read_buffer(object, key) : refuse(object);
}

static int encode(const py_form *form, py_key *key) {
    if (py_key_encode(form, key) == 0) return 0;
    PyObject *why = key->room ? py_why() : PyErr_NoMemory();
    if (why) PyErr_SetObject(PyExc_ValueError, why);
    Py_XDECREF(why);
    return -1;
}

int py_key_read(const py_form *form, PyObject *object, py_key *key) {
    key->owner = NULL;
    key->room = NULL;
    key->is_impossible = key->is_unsigned = false;
    if (read_natural(object, key) || !py_form_takes(form, key->family) ||
        (form->kind == PY_FORM_OTHER && encode(form, key))) {
        py_key_free(key);
        return -1;
    }
    return 0;
}

void py_key_free(py_key *key) {
    Py_CLEAR(key->owner);
    free(key->room);
    key->room = NULL;
}

/* ---- Encodings ------------------------------------------------------------------------------ */

/* A number that a text of its encoding cannot have is no key of the filter. */
static int encode_text(const py_form *form, py_key *key, const char *text, size_t len) {
    const size_t room = 2 * len + 16;
    key->room = len < SIZE_MAX / 2 - 16 ? malloc(room) : NULL;
    if (!key->room) return -1;
    const size_t size = tamis_encode(form->encoding, text, len, key->room, room);
    key->bytes = key->room;
    key->len = size;
    if (size != SIZE_MAX) return 0;
    key->len = 0;
    key->is_impossible = key->family == PY_NUMBER;
    return key->is_impossible ? 0 : -1;
}

/* Floats of other widths are converted here: 0 and -0 are one key, as are all NaNs. */
static int encode_real(const py_form *form, py_key *key) {
    const bool is_single = strncmp(form->encoding, "float", 5) == 0;
    const size_t size = is_single ? 4 : 8;
    const double value = isnan(key->real) ? (double)NAN : key->real == 0 ? 0 : key->real;
    uint64_t bits;
    key->room = malloc(8);
    if (!key->room) return -1;
    memcpy(&bits, &value, sizeof bits);
    if (is_single) {
        const float single = (float)value;
        uint32_t few;
        memcpy(&few, &single, sizeof few);
        bits = few;
        key->is_impossible = !isnan(value) && (double)single != value;
    }
    for (size_t i = 0; i < size; i++)
        key->room[strstr(form->encoding, "be") ? size - 1 - i : i] = (char)(bits >> 8 * i);
    key->bytes = key->room;
    key->len = size;
    return 0;
}

int py_key_encode(const py_form *form, py_key *key) {
    char text[32];
    if (key->family == PY_REAL) return encode_real(form, key);
    if (key->family == PY_BYTES) return 0;
    if (key->family == PY_TEXT) return encode_text(form, key, key->bytes, key->len);
    const int n = key->is_unsigned
                      ? snprintf(text, sizeof text, "%llu", (unsigned long long)key->number)
                      : snprintf(text, sizeof text, "%lld", (long long)key->number);
    return encode_text(form, key, text, (size_t)n);
}
