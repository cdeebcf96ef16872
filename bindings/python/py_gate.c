/* SPDX-License-Identifier: MIT */
/* One writer, or readers: the rule of every handle of the library.
 *
 * With a GIL the state changes under it, and under the mutex for those who wait without the GIL. So
 * whoever has the GIL may read it without the mutex. Nobody waits for the GIL with the mutex. */
#include "bindings/python/py.h"

#include <unistd.h>

void py_gate_init(py_gate *gate) {
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
    gate->readers = 0;
    gate->is_writing = false;
    gate->process = getpid();
}

void py_gate_destroy(py_gate *gate) {
    /* A condition that a fork copied while threads waited on it would wait for them. */
    if (gate->process == getpid()) pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

/* The child of a fork has none of the other threads: readers are gone, and half a change stays. */
static bool survives_fork(py_gate *gate) {
    if (gate->is_writing) {
        PyErr_SetString(PyExc_RuntimeError, "another thread was changing this object when the "
                                            "process forked: its state is unknown here");
        return false;
    }
    py_gate_init(gate);
    return true;
}

bool py_gate_wait(py_gate *gate, py_access access) {
    if (gate->process != getpid()) return survives_fork(gate);
    do {
        Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&gate->mutex);
        while (py_gate_is_busy(gate, access)) pthread_cond_wait(&gate->changed, &gate->mutex);
        pthread_mutex_unlock(&gate->mutex);
        Py_END_ALLOW_THREADS
    } while (py_gate_is_busy(gate, access));
    return true;
}

/* A mutex that another thread had at the fork stays locked: the child looks before it takes one. */
bool py_gate_begin(py_gate *gate, py_access access) {
    if (gate->process != getpid() && !survives_fork(gate)) return false;
    for (;;) {
        pthread_mutex_lock(&gate->mutex);
        const bool is_free = !py_gate_is_busy(gate, access);
        if (is_free && access == PY_WRITE)
            gate->is_writing = true;
        else if (is_free)
            gate->readers++;
        pthread_mutex_unlock(&gate->mutex);
        if (is_free) return true;
        if (!py_gate_wait(gate, access)) return false;
    }
}

void py_gate_end(py_gate *gate, py_access access) {
    pthread_mutex_lock(&gate->mutex);
    if (access == PY_WRITE)
        gate->is_writing = false;
    else
        gate->readers--;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}
