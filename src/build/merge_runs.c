/* SPDX-License-Identifier: MIT */
/* Many sorted runs read as one: a heap of runs, ordered by their next record. */
#include "build/merge_runs.h"

#include "core/radix.h"

static tamis_status load(tamis_runs *m, tamis_run *run) {
    const uint64_t left = run->n - run->read, size = m->numbers * sizeof(uint64_t);
    run->at = 0;
    run->count = left < m->each ? left : m->each;
    const tamis_status rc =
        tamis__spill_read(m->file, run->place + run->read * size, run->here, run->count * size);
    run->read += run->count;
    return rc;
}

static const uint64_t *front(const tamis_runs *m, size_t i) {
    const tamis_run *run = &m->run[m->heap[i]];
    return run->here + run->at * m->numbers;
}

/* Moves the i-th of the heap down until no run below it has an earlier record. */
static void sink(tamis_runs *m, size_t i) {
    for (;;) {
        size_t first = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < m->waiting; child++)
            if (tamis__record_is_before(front(m, child), front(m, first), m->numbers))
                first = child;
        if (first == i) return;
        const uint64_t swap = m->heap[i];
        m->heap[i] = m->heap[first];
        m->heap[first] = swap;
        i = first;
    }
}

tamis_status tamis__runs_start(tamis_runs *m, uint64_t *room) {
    m->waiting = 0;
    for (size_t i = 0; i < m->runs; i++) {
        m->run[i].here = room + i * m->each * m->numbers;
        m->run[i].read = 0;
        const tamis_status rc = load(m, &m->run[i]);
        if (rc) return rc;
        if (m->run[i].count) m->heap[m->waiting++] = i;
    }
    for (size_t i = m->waiting; i-- > 0;) sink(m, i);
    return TAMIS_OK;
}

bool tamis__runs_next(tamis_runs *m, uint64_t record[2], tamis_status *rc) {
    *rc = TAMIS_OK;
    if (m->waiting == 0) return false;
    tamis_run *run = &m->run[m->heap[0]];
    tamis__copy_record(record, front(m, 0), m->numbers);
    if (++run->at == run->count) *rc = load(m, run);
    if (*rc) return false;
    if (run->at == run->count) m->heap[0] = m->heap[--m->waiting];
    sink(m, 0);
    return true;
}
