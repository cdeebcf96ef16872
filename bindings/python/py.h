/* SPDX-License-Identifier: MIT */
/* For bindings/python: what the files of the module share.
 *
 *     object ──its type, the note "encoding"──▶ key ──▶ library ──▶ answer
 *     list, array, Arrow ──▶ chunks of keys ──without the GIL──▶ library ──▶ column of answers
 *
 * One source for two builds: with the limited API, where the GIL guards what is done within one
 * call, and for free-threaded Python, where the gate of each object does. */
#ifndef TAMIS_BINDINGS_PYTHON_PY_H
#define TAMIS_BINDINGS_PYTHON_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tamis.h"

/* Puts a reference in the place of another, which is released when nobody can see it any more. */
static inline void py_replace(PyObject **at, PyObject *with) {
    PyObject *old = *at;
    *at = with;
    Py_XDECREF(old);
}

/* ---- Errors --------------------------------------------------------------------------------- */

/* Raises the exception of this status with the sentence of the library; returns NULL. */
PyObject *py_raise(tamis_status);
PyObject *py_raise_message(tamis_status, PyObject *message);

/* What the library says about its last failure. */
PyObject *py_why(void);

/* None, or what py_raise does. */
PyObject *py_done(tamis_status);

/* Loads the classes of tamis._errors; -1 on failure. */
int py_errors_init(void);

/* ---- One writer, or readers ----------------------------------------------------------------- */

typedef enum py_access { PY_READ, PY_WRITE } py_access;

/* Of every filter and builder. Work that releases the GIL is between begin and end; what is done
 * at once is between pass and leave, and costs a look where there is a GIL. */
typedef struct py_gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned readers;
    bool is_writing;
    pid_t process; /* that counted them: a fork leaves behind the threads that would leave */
} py_gate;

void py_gate_init(py_gate *);
void py_gate_destroy(py_gate *);

/* Waits; false with an exception when it would be for ever. */
bool py_gate_begin(py_gate *, py_access);
void py_gate_end(py_gate *, py_access);
bool py_gate_wait(py_gate *, py_access);

static inline bool py_gate_is_busy(const py_gate *gate, py_access access) {
    return gate->is_writing || (access == PY_WRITE && gate->readers > 0);
}

static inline bool py_gate_pass(py_gate *gate, py_access access) {
#ifdef Py_GIL_DISABLED
    return py_gate_begin(gate, access);
#else
    return !py_gate_is_busy(gate, access) || py_gate_wait(gate, access);
#endif
}

static inline void py_gate_leave(py_gate *gate, py_access access) {
#ifdef Py_GIL_DISABLED
    py_gate_end(gate, access);
#else
    (void)gate, (void)access;
#endif
}

/* ---- Keys ----------------------------------------------------------------------------------- */

typedef enum py_family { PY_NUMBER, PY_TEXT, PY_BYTES, PY_REAL } py_family;

typedef enum py_form_kind {
    PY_FORM_ANY,    /* no key yet, and no note: the first key decides */
    PY_FORM_TEXT,   /* utf8, bytes, or keys without a note */
    PY_FORM_INT,    /* int64, uint64: as the 8 bytes that they have here */
    PY_FORM_OTHER,  /* an encoding that tamis_encode writes */
    PY_FORM_REFUSED /* keys that only the command makes */
} py_form_kind;

/* How keys of a filter or a builder become bytes. */
typedef struct py_form {
    py_form_kind kind;
    char encoding[16]; /* of PY_FORM_OTHER */
} py_form;

/* A key of an object, valid as long as the object or `owner`. */
typedef struct py_key {
    py_family family;
    bool is_impossible; /* a number that the encoding has no place for: certainly not there */
    bool is_unsigned;   /* the number is not that of an int64 */
    uint64_t number;
    double real;
    const char *bytes;
    size_t len;
    PyObject *owner; /* a reference, or NULL */
    char *room;      /* memory for the bytes, or NULL */
} py_key;

/* The form that the notes of a filter tell. */
py_form py_form_of(const tamis *);

/* The form of keys by a note; PY_FORM_REFUSED for an encoding of a newer version. */
py_form py_form_named(const char *encoding);

/* The note that the first key of a filter sets. */
const char *py_form_note(py_family);
py_form_kind py_form_of_family(py_family);

/* Can keys of this family be in a filter of this form? Otherwise raises TypeError. */
bool py_form_takes(const py_form *, py_family);

/* Reads an object, or raises. It is a key of the form, in the form's bytes. */
int py_key_read(const py_form *, PyObject *, py_key *);
void py_key_free(py_key *);

/* Turns a natural key into bytes of PY_FORM_OTHER; -1 for a text that is none, see tamis_why, or
 * with py_out_of_memory. Runs without the GIL. */
int py_key_encode(const py_form *, py_key *);

/* ---- Filters and builders ------------------------------------------------------------------- */

typedef struct py_filter {
    PyObject_HEAD tamis *filter;
    py_gate gate;
    py_form form;
    bool is_sketch;   /* knows sets, not keys */
    PyObject *path;   /* of a mapped file; or NULL */
    Py_buffer viewed; /* of a view */
} py_filter;

extern PyTypeObject *py_filter_type;
extern PyMethodDef py_filter_one_methods[], py_filter_many_methods[], py_filter_bytes_methods[],
    py_filter_set_methods[], py_filter_tell_methods[];

/* For tables of methods that take names. */
#define PY_WITH_NAMES(function) (PyCFunction)(void (*)(void))(function)

/* Slots and attributes of the class, each in the file of its subject. */
int py_filter_contains(PyObject *, PyObject *key);
PyObject *py_filter_subscript(PyObject *, PyObject *key);
int py_filter_put(PyObject *, PyObject *key, PyObject *value);
PyObject *py_filter_compare(PyObject *, PyObject *, int);
int py_filter_buffer(PyObject *, Py_buffer *, int flags);
PyObject *py_filter_labels(PyObject *, void *);
PyObject *py_filter_path(PyObject *, void *);
PyObject *py_filter_notes(PyObject *, void *);
PyObject *py_filter_spec_text(PyObject *, void *);
PyObject *py_filter_kind(PyObject *, void *);

/* Raises UnsupportedError: a sketch would say maybe to every key. */
int py_filter_refuse_query(py_filter *);

/* Raises UnsupportedError with `what` unless the filter has the ability. */
bool py_filter_is_able(py_filter *, unsigned ability, const char *what);

/* The filter that owns `filter`, an object of class `type`; frees it on failure. */
PyObject *py_filter_new(PyTypeObject *type, tamis *filter);

/* The first key of a filter sets its note; `was_any` is for taking that back when no key came. The
 * gate is held. */
int py_filter_claim(py_filter *, py_family, bool *was_any);
void py_filter_unclaim(py_filter *, bool was_any);

/* Options by name, taken out of the names of a call. */
typedef struct py_options {
    struct tamis_options options;
    uint8_t secret_bytes[16];
} py_options;

/* The spec of a call: a text and the options that are named beside it; the names of `options` are
 * not of the spec. A new str, or NULL with an exception. */
PyObject *py_spec_read(PyObject *args, PyObject *names, py_options *);

/* The options secret, max_bytes and threads of a dict, which are removed from it. */
int py_options_read(PyObject *names, py_options *);

/* A whole number from 0 to `max`, or raises with `name`. */
int py_read_number(PyObject *, const char *name, uint64_t max, uint64_t *);

/* Takes one name out of a dict: NULL without an exception when it is not there, or None. */
PyObject *py_take_name(PyObject *names, const char *name);

/* ---- Many keys ------------------------------------------------------------------------------ */

enum { PY_CHUNK = 1024 };

/* What is done with keys: each entry handles `n` of them, without the GIL. Those that ask write
 * hits, values or both. */
typedef struct py_work {
    py_access access;
    bool has_hits, has_values;
    tamis_status (*keys)(void *, const struct tamis_key *, size_t n, uint8_t *hit, uint64_t *value);
    tamis_status (*numbers)(void *, const uint64_t *, size_t n, uint8_t *hit, uint64_t *value);
    tamis_status (*packed)(void *, const void *, size_t width, size_t n, uint8_t *hit,
                           uint64_t *value);
    int (*claim)(void *, py_family); /* before the first keys; NULL: a filter's own way */
} py_work;

/* Keys on their way to the work, and the answers so far. */
typedef struct py_batch {
    const py_work *work;
    void *target;
    py_gate *gate;
    py_form *form;     /* of the target */
    py_filter *filter; /* the target, if it is one that adds: its first key sets its note */
    uint8_t *hit;      /* answers, one for each row ... */
    uint64_t *value;   /* ... */
    uint8_t *valid;    /* ... and 0 for rows without a key; NULL: every row has one */
    size_t rows, room;

    /* The chunk. */
    py_family family, said;      /* of the keys as they are here, and as they came */
    bool has_owners, has_memory; /* some of the keys that wait */
    size_t waiting, first_row;
    struct tamis_key keys[PY_CHUNK];
    uint64_t numbers[PY_CHUNK];
    uint32_t row[PY_CHUNK]; /* of each, after first_row */
    PyObject *owner[PY_CHUNK];
    char *memory[PY_CHUNK];
    uint8_t chunk_hit[PY_CHUNK];
    uint64_t chunk_value[PY_CHUNK];
} py_batch;

/* Keys in memory that is nobody's object: an array, a column. `load` writes the keys of rows from
 * `at` on, at most PY_CHUNK, and tells which rows have one; it runs without the GIL. */
typedef struct py_keys py_keys;
struct py_keys {
    size_t n;
    py_family family;
    bool is_unsigned;
    const void *whole; /* all keys, if they lie as the library takes them: numbers ... */
    size_t width;      /* ... or bytes of this width */
    bool may_lack;     /* rows may be null */
    size_t (*load)(const py_keys *, size_t at, size_t rows, py_batch *);
    const void *data;
};

py_batch *py_batch_new(const py_work *, void *target, py_gate *, py_form *, py_filter *);
void py_batch_free(py_batch *);

/* Puts all keys of an object through the work: a list, an iterable, an array, an Arrow column.
 * `is_array` tells that answers belong into an array too. -1 with an exception: keys before the
 * one that failed have been taken. */
int py_batch_run(py_batch *, PyObject *keys, bool *is_array);

/* The same for a column, for one object, and for what waits. */
int py_batch_keys(py_batch *, const py_keys *);
int py_batch_object(py_batch *, PyObject *);
int py_batch_flush(py_batch *);

/* An array that exports a buffer: 1 when its keys went through, 0 when it is no such array. */
int py_batch_array(py_batch *, PyObject *);

/* A column of Arrow: the same. */
int py_batch_arrow(py_batch *, PyObject *);

/* ---- Columns of answers --------------------------------------------------------------------- */

/* Takes hit or value, and valid, from the batch. */
PyObject *py_column_new(py_batch *);
int py_column_init(PyObject *module);

/* ---- What is told --------------------------------------------------------------------------- */

int py_tell_init(PyObject *module);
extern PyMethodDef py_tell_functions[], py_set_functions[], py_format_functions[];

int py_filter_init(PyObject *module);
int py_builder_init(PyObject *module);

/* tamis.Filter. */
PyTypeObject *py_public_filter(void);

/* A pair of doubles, tamis.Estimate. */
PyObject *py_estimate_new(struct tamis_estimate);
PyObject *py_text_or_none(const char *);

#endif
