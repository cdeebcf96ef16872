/* SPDX-License-Identifier: MIT */
/* Arrays that export a buffer: numpy, array.array, memoryview.
 *
 *     one dimension of integers      ints of any width
 *     one dimension of "16s"         bytes without the zeros that fill them up, as numpy reads them
 *     one dimension of "16x"         16 bytes each (numpy's V16)
 *     two dimensions of bytes        a key in each row
 *
 * Other arrays (of objects, of texts, of the other byte order) are iterables like any. */
#include "bindings/python/py.h"

#include <string.h>

typedef struct array {
    const char *first;
    Py_ssize_t stride;
    size_t width;
    bool is_signed, is_padded;
} array;

static uint64_t number_at(const array *a, size_t i) {
    const char *at = a->first + (Py_ssize_t)i * a->stride;
    uint64_t wide;
    uint32_t long_;
    uint16_t short_;
    switch (a->width) {
    case 1: return a->is_signed ? (uint64_t)(int64_t)(int8_t)*at : (uint64_t)(uint8_t)*at;
    case 2: memcpy(&short_, at, 2); return a->is_signed ? (uint64_t)(int16_t)short_ : short_;
    case 4: memcpy(&long_, at, 4); return a->is_signed ? (uint64_t)(int32_t)long_ : long_;
    default: memcpy(&wide, at, 8); return wide;
    }
}

static size_t load_numbers(const py_keys *keys, size_t at, size_t rows, py_batch *b) {
    for (size_t i = 0; i < rows; i++) {
        b->numbers[i] = number_at(keys->data, at + i);
        b->row[i] = (uint32_t)i;
    }
    b->waiting = rows;
    return rows;
}

static size_t load_bytes(const py_keys *keys, size_t at, size_t rows, py_batch *b) {
    const array *a = keys->data;
    for (size_t i = 0; i < rows; i++) {
        const char *bytes = a->first + (Py_ssize_t)(at + i) * a->stride;
        size_t len = a->width;
        while (a->is_padded && len && bytes[len - 1] == 0) len--;
        b->keys[i] = (struct tamis_key){bytes, len};
        b->row[i] = (uint32_t)i;
    }
    b->waiting = rows;
    return rows;
}

/* The letter of a format for one native value, or of "16s"; 0 for others. */
static char letter_of(const Py_buffer *view) {
    const char *format = view->format ? view->format : "B";
    const uint16_t one = 1;
    if (*format == '@' || *format == '=' || (*format == '<' && *(const char *)&one)) format++;
    while (*format >= '0' && *format <= '9') format++;
    return *format && !format[1] ? *format : 0;
}

static bool read_shape(const Py_buffer *view, array *a, py_keys *keys) {
    const char letter = letter_of(view);
    *a = (array){.first = view->buf, .width = (size_t)view->itemsize};
    *keys = (py_keys){.data = a, .family = PY_BYTES, .load = load_bytes};
    if (!letter || view->ndim < 1 || view->ndim > 2) return false;
    a->stride = view->strides ? view->strides[0] : view->itemsize;
    keys->n = (size_t)view->shape[0];
    if (view->ndim == 2) {
        a->width = (size_t)view->shape[1];
        if (view->itemsize != 1 || !strchr("bBc", letter) || view->strides[1] != 1) return false;
    } else if (letter == 's') {
        a->is_padded = true;
    } else if (letter != 'x') {
        a->is_signed = strchr("bhilqn", letter);
        if (!a->is_signed && !strchr("BHILQN", letter)) return false;
        keys->family = PY_NUMBER;
        keys->load = load_numbers;
        keys->is_unsigned = !a->is_signed;
    }
    return true;
}

/* The library reads 64-bit integers, and bytes one after the other, where they lie. */
static void find_whole(const array *a, py_keys *keys) {
    const bool is_dense = a->stride == (Py_ssize_t)a->width && !a->is_padded;
    const bool is_aligned = (uintptr_t)a->first % sizeof(uint64_t) == 0;
    if (!is_dense || (keys->family == PY_NUMBER && (a->width != 8 || !is_aligned))) return;
    keys->whole = a->first;
    keys->width = a->width;
}

int py_batch_array(py_batch *b, PyObject *object) {
    Py_buffer view;
    py_keys keys;
    array a;
    if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_STRIDES)) {
        PyErr_Clear(); /* an array that only iterates, as those of objects */
        return 0;
    }
    int rc = 0;
    if (read_shape(&view, &a, &keys)) {
        find_whole(&a, &keys);
        rc = py_batch_keys(b, &keys) ? -1 : 1;
    }
    PyBuffer_Release(&view);
    return rc;
}
