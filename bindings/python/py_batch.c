/* SPDX-License-Identifier: MIT */
/* Many keys: in chunks, each of which goes to the library in one call without the GIL.
 *
 * Keys of objects are read with the GIL, and every object is kept until the chunk is done: its list
 * may change meanwhile, and the code of an iterator may do anything. Columns are read without the
 * GIL: their owner promises that they stay. */
#include "bindings/python/py.h"

#include <stdlib.h>
#include <string.h>

py_batch *py_batch_new(const py_work *work, void *target, py_gate *gate, py_form *form,
                       py_filter *filter) {
    py_batch *b = calloc(1, sizeof *b);
    if (!b) {
        PyErr_NoMemory();
        return NULL;
    }
    b->work = work;
    b->target = target;
    b->gate = gate;
    b->form = form;
    b->filter = filter;
    return b;
}

static void let_go(py_batch *b) {
    const size_t n = b->waiting;
    b->waiting = 0;
    for (size_t i = 0; b->has_owners && i < n; i++) Py_XDECREF(b->owner[i]);
    for (size_t i = 0; b->has_memory && i < n; i++) free(b->memory[i]);
    b->has_owners = b->has_memory = false;
}

void py_batch_free(py_batch *b) {
    if (!b) return;
    let_go(b);
    free(b->hit);
    free(b->value);
    free(b->valid);
    free(b);
}

/* ---- Rows of answers ------------------------------------------------------------------------ */

static bool grow(void **list, size_t width, size_t rows) {
    void *longer = rows <= SIZE_MAX / width ? realloc(*list, rows * width) : NULL;
    if (longer) *list = longer;
    return longer;
}

/* Room for `more` rows that begin as misses. */
static int add_rows(py_batch *b, size_t more) {
    if (!b->work->has_hits && !b->work->has_values) return 0;
    if (more > b->room - b->rows) {
        const size_t room = more > b->room ? b->rows + more : 2 * b->room + PY_CHUNK;
        if ((b->work->has_hits && !grow((void **)&b->hit, 1, room)) ||
            (b->work->has_values && !grow((void **)&b->value, sizeof *b->value, room)) ||
            (b->valid && !grow((void **)&b->valid, 1, room))) {
            PyErr_NoMemory();
            return -1;
        }
        b->room = room;
    }
    if (b->hit) memset(b->hit + b->rows, 0, more);
    if (b->value) memset(b->value + b->rows, 0, more * sizeof *b->value);
    if (b->valid) memset(b->valid + b->rows, 1, more);
    b->rows += more;
    return 0;
}

/* From now on rows may have no key. */
static int may_lack_rows(py_batch *b) {
    if (b->valid || (!b->work->has_hits && !b->work->has_values)) return 0;
    b->valid = malloc(b->room ? b->room : 1);
    if (!b->valid) {
        PyErr_NoMemory();
        return -1;
    }
    memset(b->valid, 1, b->rows);
    return 0;
}

/* ---- A chunk -------------------------------------------------------------------------------- */

static bool is_dense(const py_batch *b) {
    return b->row[b->waiting - 1] == b->waiting - 1;
}

static tamis_status call(py_batch *b, uint8_t *hit, uint64_t *value) {
    return b->family == PY_NUMBER ? b->work->numbers(b->target, b->numbers, b->waiting, hit, value)
                                  : b->work->keys(b->target, b->keys, b->waiting, hit, value);
}

/* Runs without the GIL. */
static tamis_status work_on_chunk(py_batch *b) {
    const size_t first = b->first_row;
    if (is_dense(b))
        return call(b, b->hit ? b->hit + first : NULL, b->value ? b->value + first : NULL);
    const tamis_status rc = call(b, b->chunk_hit, b->chunk_value);
    for (size_t i = 0; i < b->waiting; i++) {
        if (b->hit) b->hit[first + b->row[i]] = b->chunk_hit[i];
        if (b->value) b->value[first + b->row[i]] = b->chunk_value[i];
    }
    return rc;
}

/* A chunk is taken whole or not at all: of one that has no room, the first keys may have. */
static tamis_status fill_up(py_batch *b) {
    tamis_status rc = TAMIS_OK;
    for (size_t i = 0; i < b->waiting && !rc; i++)
        rc = b->family == PY_NUMBER ? b->work->numbers(b->target, &b->numbers[i], 1, NULL, NULL)
                                    : b->work->keys(b->target, &b->keys[i], 1, NULL, NULL);
    return rc;
}

/* Holds the gate, with the note that keys of this family need. */
static int begin(py_batch *b, py_family family, bool *was_any) {
    *was_any = false;
    if (!py_gate_begin(b->gate, b->work->access)) return -1;
    const int rc = b->filter        ? py_filter_claim(b->filter, family, was_any)
                   : b->work->claim ? b->work->claim(b->target, family)
                                    : 0;
    if (rc) py_gate_end(b->gate, b->work->access);
    return rc;
}

static int end(py_batch *b, tamis_status rc, bool was_any) {
    if (rc && was_any) py_filter_unclaim(b->filter, was_any);
    py_gate_end(b->gate, b->work->access);
    if (rc) py_raise(rc);
    return rc ? -1 : 0;
}

int py_batch_flush(py_batch *b) {
    bool was_any;
    tamis_status rc;
    int failed = 0;
    if (b->waiting) {
        failed = begin(b, b->said, &was_any);
        if (!failed) {
            Py_BEGIN_ALLOW_THREADS rc = work_on_chunk(b);
            if (rc == TAMIS_FULL && b->work->access == PY_WRITE) rc = fill_up(b);
            Py_END_ALLOW_THREADS failed = end(b, rc, was_any);
        }
    }
    let_go(b);
    b->first_row = b->rows;
    return failed;
}

/* The usual keys of a list, while the chunk and the answers have room for one more. */
static inline bool take_usual(py_batch *b, PyObject *object) {
    const size_t i = b->waiting;
    const bool has_rows = b->work->has_hits || b->work->has_values;
    if (i == PY_CHUNK || (has_rows && (b->rows == b->room || b->valid))) return false;
    if (b->form->kind == PY_FORM_TEXT && Py_IS_TYPE(object, &PyUnicode_Type)) {
        Py_ssize_t len;
        const char *bytes = PyUnicode_AsUTF8AndSize(object, &len);
        if (!bytes) PyErr_Clear();
        if (!bytes || (i && b->family == PY_NUMBER)) return false;
        b->family = b->said = PY_TEXT;
        b->keys[i] = (struct tamis_key){bytes, (size_t)len};
        b->owner[i] = Py_NewRef(object);
        b->memory[i] = NULL;
        b->has_owners = true;
    } else if (b->form->kind == PY_FORM_INT && Py_IS_TYPE(object, &PyLong_Type)) {
        int overflow;
        const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow || (i && b->family != PY_NUMBER)) return false;
        b->family = b->said = PY_NUMBER;
        b->numbers[i] = (uint64_t)number;
        b->owner[i] = NULL;
        b->memory[i] = NULL;
    } else {
        return false;
    }
    b->row[i] = (uint32_t)(has_rows ? b->rows++ - b->first_row : i);
    b->waiting++;
    return true;
}

/* Makes room for a key of this family. Texts and bytes go together, numbers by themselves. */
static int make_room(py_batch *b, py_family family, py_family said) {
    const bool is_other = (family == PY_NUMBER) != (b->family == PY_NUMBER);
    const bool is_long = b->waiting == PY_CHUNK || b->rows - b->first_row == UINT32_MAX;
    if (b->waiting && (is_other || is_long) && py_batch_flush(b)) return -1;
    if (b->waiting == 0) {
        b->family = family;
        b->said = said;
    }
    const bool has_rows = b->work->has_hits || b->work->has_values;
    b->row[b->waiting] = (uint32_t)(has_rows ? b->rows - b->first_row : b->waiting);
    return add_rows(b, 1);
}

/* The key, and what it needs, is the batch's from now on. */
static void take_key(py_batch *b, PyObject *object, py_key *key, py_family family) {
    const size_t i = b->waiting++;
    if (family == PY_NUMBER)
        b->numbers[i] = key->number;
    else
        b->keys[i] = (struct tamis_key){key->bytes, key->len};
    if (!key->owner && family != PY_NUMBER) key->owner = Py_NewRef(object);
    b->owner[i] = key->owner;
    b->memory[i] = key->room;
    b->has_owners |= key->owner != NULL;
    b->has_memory |= key->room != NULL;
}

static int take_any(py_batch *b, PyObject *object) {
    py_key key;
    if (py_key_read(b->form, object, &key)) return -1;
    const py_family family = key.room ? PY_BYTES : key.family;
    int rc = -1;
    if (key.is_impossible && b->work->access == PY_WRITE)
        PyErr_Format(PyExc_OverflowError, "%R is not a number that %s can have", object,
                     b->form->encoding);
    else
        rc = make_room(b, family, key.family);
    if (rc || key.is_impossible)
        py_key_free(&key);
    else
        take_key(b, object, &key, family);
    return rc;
}

int py_batch_object(py_batch *b, PyObject *object) {
    return take_usual(b, object) ? 0 : take_any(b, object);
}

/* ---- Columns -------------------------------------------------------------------------------- */

/* The keys of a chunk in the encoding of the filter, one by one. */
static tamis_status encode_chunk(py_batch *b, const py_keys *keys) {
    memset(b->memory, 0, b->waiting * sizeof b->memory[0]);
    for (size_t i = 0; i < b->waiting; i++) {
        py_key key = {.family = keys->family, .is_unsigned = keys->is_unsigned};
        if (keys->family == PY_NUMBER) {
            key.number = b->numbers[i];
        } else {
            key.bytes = b->keys[i].bytes;
            key.len = b->keys[i].len;
        }
        const int rc = py_key_encode(b->form, &key);
        b->memory[i] = key.room;
        b->has_memory = true;
        if (rc) return key.room ? TAMIS_INVALID : TAMIS_NOMEM;
        if (key.is_impossible && b->work->access == PY_WRITE) return TAMIS_INVALID;
        b->chunk_hit[i] = key.is_impossible;
        b->keys[i] = (struct tamis_key){key.bytes, key.len};
    }
    b->family = PY_BYTES;
    return TAMIS_OK;
}

/* Numbers that the encoding has no place for are left out: their rows stay misses. */
static void drop_impossible(py_batch *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->waiting; i++) {
        char *memory = b->memory[i];
        b->memory[i] = NULL;
        if (b->chunk_hit[i]) {
            free(memory);
            continue;
        }
        b->memory[kept] = memory;
        b->keys[kept] = b->keys[i];
        b->row[kept++] = b->row[i];
    }
    b->waiting = kept;
}

static tamis_status work_on_rows(py_batch *b, const py_keys *keys) {
    tamis_status rc = TAMIS_OK;
    for (size_t at = 0, n; at < keys->n && !rc; at += n) {
        n = keys->n - at < PY_CHUNK ? keys->n - at : PY_CHUNK;
        b->waiting = 0;
        b->family = keys->family;
        n = keys->load(keys, at, n, b);
        if (b->waiting && b->form->kind == PY_FORM_OTHER) {
            rc = encode_chunk(b, keys);
            if (!rc) drop_impossible(b);
        }
        if (b->waiting && !rc) rc = work_on_chunk(b);
        let_go(b);
        b->first_row += n;
    }
    return rc;
}

static tamis_status work_on_whole(py_batch *b, const py_keys *keys) {
    uint8_t *hit = b->hit ? b->hit + b->first_row : NULL;
    uint64_t *value = b->value ? b->value + b->first_row : NULL;
    return keys->family == PY_NUMBER
               ? b->work->numbers(b->target, keys->whole, keys->n, hit, value)
               : b->work->packed(b->target, keys->whole, keys->width, keys->n, hit, value);
}

int py_batch_keys(py_batch *b, const py_keys *keys) {
    bool was_any;
    tamis_status rc;
    if (py_batch_flush(b) || !py_form_takes(b->form, keys->family)) return -1;
    if (keys->may_lack && may_lack_rows(b)) return -1;
    if (add_rows(b, keys->n)) return -1;
    if (keys->n == 0) return 0;
    if (begin(b, keys->family, &was_any)) return -1;
    const bool is_whole = keys->whole && b->form->kind != PY_FORM_OTHER;
    Py_BEGIN_ALLOW_THREADS rc = is_whole ? work_on_whole(b, keys) : work_on_rows(b, keys);
    Py_END_ALLOW_THREADS b->first_row = b->rows;
    return end(b, rc, was_any);
}

/* ---- Lists and iterables -------------------------------------------------------------------- */

/* After an error the keys before it are taken, and an error there would be the lesser one. */
static int finish(py_batch *b) {
    PyObject *type, *error, *trace;
    if (!PyErr_Occurred()) return py_batch_flush(b);
    PyErr_Fetch(&type, &error, &trace);
    if (py_batch_flush(b)) PyErr_Clear();
    PyErr_Restore(type, error, trace);
    return -1;
}

/* The list may become shorter or longer meanwhile. */
static int run_list(py_batch *b, PyObject *list) {
    int rc = 0;
    for (Py_ssize_t i = 0; !rc && i < PyList_Size(list); i++) {
#ifdef Py_GIL_DISABLED
        PyObject *object = PyList_GetItemRef(list, i);
        if (!object) { /* gone between the two calls */
            PyErr_Clear();
            break;
        }
#else
        PyObject *object = Py_NewRef(PyList_GetItem(list, i));
#endif
        rc = py_batch_object(b, object);
        Py_DECREF(object);
    }
    return finish(b);
}

static int run_iterable(py_batch *b, PyObject *keys) {
    PyObject *iterator = PyObject_GetIter(keys), *object;
    int rc = 0;
    if (!iterator) return -1;
    while (!rc && (object = PyIter_Next(iterator))) {
        rc = py_batch_object(b, object);
        Py_DECREF(object);
    }
    Py_DECREF(iterator);
    return finish(b);
}

static int refuse_single(PyObject *keys) {
    PyObject *name = PyType_GetName(Py_TYPE(keys));
    if (name)
        PyErr_Format(PyExc_TypeError,
                     "a %U is one key: for many keys give a list or another iterable, an array or "
                     "an Arrow column",
                     name);
    Py_XDECREF(name);
    return -1;
}

static int refuse_filter(void) {
    PyErr_SetString(PyExc_TypeError,
                    "a filter does not know its keys: f |= other or f.merge(other) joins two");
    return -1;
}

int py_batch_run(py_batch *b, PyObject *keys, bool *is_array) {
    *is_array = false;
    if (Py_IS_TYPE(keys, &PyList_Type)) return run_list(b, keys);
    if (PyUnicode_Check(keys) || PyBytes_Check(keys) || PyByteArray_Check(keys))
        return refuse_single(keys);
    if (PyObject_IsInstance(keys, (PyObject *)py_filter_type)) return refuse_filter();
    int rc = py_batch_arrow(b, keys);
    if (rc == 0 && PyObject_CheckBuffer(keys)) rc = py_batch_array(b, keys);
    if (rc) {
        *is_array = rc > 0;
        return rc > 0 ? 0 : -1;
    }
    return run_iterable(b, keys);
}
