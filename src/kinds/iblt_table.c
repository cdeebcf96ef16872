/* SPDX-License-Identifier: MIT */
/* The cells of iblt, and how differences are taken out of them.
 *
 *     first - second:     | 2 a^b |  1 c  |  0    | -1 d  | 1 a^b^c | ...
 *
 * Subtracting cancels what both tables have. A cell with a count of 1 or -1 whose check matches
 * holds one hash: it is found, and removed from its other cells too, which may leave one hash
 * there. In a difference of two sets a cell emptied like that holds nothing more, and no hash found
 * later has it among its cells. Tables in which that happens are not those of two sets; this also
 * bounds the work, since no cell is emptied twice. */
#include "kinds/iblt_table.h"

void tamis__iblt_add(tamis_iblt t, uint64_t hash, uint64_t by) {
    uint64_t chain = tamis__chain_start(hash);
    const tamis_iblt_cell one = {by, hash, tamis__iblt_check(hash)};
    for (unsigned s = 0; s < t.hashes; s++) {
        const uint64_t i = tamis__iblt_next(t, &chain, s);
        tamis__iblt_put(t, i, tamis__iblt_sum(tamis__iblt_get(t, i), one));
    }
}

bool tamis__iblt_can_leave(tamis_iblt t, uint64_t hash) {
    uint64_t chain = tamis__chain_start(hash);
    for (unsigned s = 0; s < t.hashes; s++) {
        const tamis_iblt_cell cell = tamis__iblt_get(t, tamis__iblt_next(t, &chain, s));
        if (cell.count == 0) return false;
        if (cell.count == 1 && (cell.keys != hash || !tamis__iblt_is_one(cell))) return false;
    }
    return true;
}

void tamis__iblt_merge(tamis_iblt into, tamis_iblt from) {
    for (uint64_t i = 0; i < into.cells; i++)
        tamis__iblt_put(into, i,
                        tamis__iblt_sum(tamis__iblt_get(into, i), tamis__iblt_get(from, i)));
}

/* ---- The gate ------------------------------------------------------------------------------- */

tamis_iblt_cell tamis__iblt_total(tamis_iblt t, unsigned subtable) {
    const uint64_t side = t.cells / t.hashes;
    tamis_iblt_cell sum = {0, 0, 0};
    for (uint64_t i = subtable * side; i < (subtable + 1) * side; i++)
        sum = tamis__iblt_sum(sum, tamis__iblt_get(t, i));
    return sum;
}

tamis_status tamis__iblt_audit(tamis_iblt t) {
    const tamis_iblt_cell total = tamis__iblt_total(t, 0);
    for (uint64_t i = 0; i < t.cells; i++) {
        const tamis_iblt_cell cell = tamis__iblt_get(t, i);
        if (cell.count > total.count || (cell.count == 0 && !tamis__iblt_is_empty(cell)))
            return tamis__fail(TAMIS_CORRUPT, "cell %llu counts %llu hashes, which is impossible",
                               (unsigned long long)i, (unsigned long long)cell.count);
    }
    for (unsigned s = 1; s < t.hashes; s++)
        if (!tamis__iblt_is_empty(tamis__iblt_difference(total, tamis__iblt_total(t, s))))
            return tamis__fail(TAMIS_CORRUPT, "subtables 0 and %u do not hold the same hashes", s);
    return TAMIS_OK;
}

/* ---- Differences ---------------------------------------------------------------------------- */

enum { OPEN, QUEUED, FOUND_IN_FIRST, FOUND_IN_SECOND }; /* states of a cell */

/* A cell is queued at most once, so that the queue has room for all. */
static void offer(tamis_peel *p, uint64_t i) {
    if (p->state[i] != OPEN || !tamis__iblt_is_one(tamis__iblt_get(p->rest, i))) return;
    p->state[i] = QUEUED;
    tamis__put64(p->queue + p->queued++ * 8, i);
}

/* Is the cell one of this hash? Chance matches of the check are rejected. */
static bool is_at_home(tamis_iblt t, uint64_t hash, uint64_t i) {
    uint64_t chain = tamis__chain_start(hash), at = 0;
    for (unsigned s = 0; s <= i / (t.cells / t.hashes); s++) at = tamis__iblt_next(t, &chain, s);
    return at == i;
}

static tamis_status contradiction(void) {
    return tamis__fail(TAMIS_CORRUPT,
                       "the cells contradict each other: a table is damaged, or holds "
                       "a key more than once");
}

/* Removes the hash of cell i from all its cells. */
static tamis_status take_out(tamis_peel *p, uint64_t i, tamis_iblt_cell one) {
    uint64_t chain = tamis__chain_start(one.keys);
    for (unsigned s = 0; s < p->rest.hashes; s++) {
        const uint64_t at = tamis__iblt_next(p->rest, &chain, s);
        if (p->state[at] >= FOUND_IN_FIRST) return contradiction();
        tamis__iblt_put(p->rest, at, tamis__iblt_difference(tamis__iblt_get(p->rest, at), one));
        if (at != i) offer(p, at);
    }
    p->state[i] = one.count == 1 ? FOUND_IN_FIRST : FOUND_IN_SECOND;
    p->found++;
    tamis__iblt_put(p->rest, i, one);
    return TAMIS_OK;
}

/* The rest when no cell holds one hash. Cells that count hashes but whose xors are zero hold each
 * of them an even number of times. */
static tamis_status judge(const tamis_peel *p) {
    bool is_all = true;
    for (uint64_t i = 0; i < p->rest.cells; i++) {
        const tamis_iblt_cell cell = tamis__iblt_get(p->rest, i);
        if (p->state[i] >= FOUND_IN_FIRST || tamis__iblt_is_empty(cell)) continue;
        if ((cell.keys | cell.checks) == 0)
            return tamis__fail(TAMIS_INVALID, "a key was added more than once: what differs cannot "
                                              "be listed");
        is_all = false;
    }
    if (is_all) return TAMIS_OK;
    return tamis__fail(TAMIS_PARTIAL, "more keys differ than %llu cells can list: %llu were found",
                       (unsigned long long)p->rest.cells, (unsigned long long)p->found);
}

tamis_status tamis__peel(tamis_peel *p, tamis_iblt first, tamis_iblt second, uint8_t *scratch) {
    const uint64_t cells = first.cells;
    *p = (tamis_peel){.rest = {scratch, cells, first.hashes},
                      .queue = scratch + cells * TAMIS_IBLT_CELL,
                      .state = scratch + cells * (TAMIS_IBLT_CELL + 8)};
    for (uint64_t i = 0; i < cells; i++) {
        tamis__iblt_put(
            p->rest, i,
            tamis__iblt_difference(tamis__iblt_get(first, i), tamis__iblt_get(second, i)));
        offer(p, i);
    }
    while (p->queued) {
        const uint64_t i = tamis__get64(p->queue + --p->queued * 8);
        const tamis_iblt_cell cell = tamis__iblt_get(p->rest, i);
        p->state[i] = OPEN;
        if (!tamis__iblt_is_one(cell) || !is_at_home(p->rest, cell.keys, i)) continue;
        const tamis_status rc = take_out(p, i, cell);
        if (rc) return rc;
    }
    return judge(p);
}

bool tamis__peel_at(const tamis_peel *p, uint64_t i, uint64_t *hash, bool *is_first) {
    if (p->state[i] < FOUND_IN_FIRST) return false;
    *hash = tamis__iblt_get(p->rest, i).keys;
    *is_first = p->state[i] == FOUND_IN_FIRST;
    return true;
}
