/* SPDX-License-Identifier: MIT */
/* For the files of iblt and its tests: iblt.c, iblt_table.c, iblt_size.c.
 *
 * A table of cells of three words each: the number of hashes added here, their xor, and the xor of
 * their checks. A hash has one cell in each of `hashes` equal subtables. What was added can be
 * removed in any order, and one table can be subtracted from another cell by cell. */
#ifndef TAMIS_KINDS_IBLT_TABLE_H
#define TAMIS_KINDS_IBLT_TABLE_H

#include "bits/bits.h"
#include "bits/probe.h"
#include "kinds/bloom.h"
#include "kinds/kind.h"

enum { TAMIS_IBLT_CELL = 24 };

typedef struct tamis_iblt {
    uint8_t *bytes;
    uint64_t cells;
    unsigned hashes; /* divides cells */
} tamis_iblt;

typedef struct tamis_iblt_cell {
    uint64_t count; /* of a difference: modulo 2^64, so that -1 is all ones */
    uint64_t keys, checks;
} tamis_iblt_cell;

TAMIS_FN tamis_iblt_cell tamis__iblt_get(tamis_iblt t, uint64_t i) {
    const uint8_t *at = t.bytes + i * TAMIS_IBLT_CELL;
    return (tamis_iblt_cell){tamis__get64(at), tamis__get64(at + 8), tamis__get64(at + 16)};
}

TAMIS_FN void tamis__iblt_put(tamis_iblt t, uint64_t i, tamis_iblt_cell cell) {
    uint8_t *at = t.bytes + i * TAMIS_IBLT_CELL;
    tamis__put64(at, cell.count);
    tamis__put64(at + 8, cell.keys);
    tamis__put64(at + 16, cell.checks);
}

/* A cell that has what both have. */
TAMIS_FN tamis_iblt_cell tamis__iblt_sum(tamis_iblt_cell a, tamis_iblt_cell b) {
    return (tamis_iblt_cell){a.count + b.count, a.keys ^ b.keys, a.checks ^ b.checks};
}

/* What the first has and the second has not, and the reverse. */
TAMIS_FN tamis_iblt_cell tamis__iblt_difference(tamis_iblt_cell a, tamis_iblt_cell b) {
    b.count = 0 - b.count;
    return tamis__iblt_sum(a, b);
}

TAMIS_FN bool tamis__iblt_is_empty(tamis_iblt_cell cell) {
    return (cell.count | cell.keys | cell.checks) == 0;
}

/* The check shows that a cell holds one hash and not the xor of several. */
TAMIS_FN uint64_t tamis__iblt_check(uint64_t hash) {
    return tamis__mix(hash + 0x9e3779b97f4a7c15);
}

/* One hash, and no other? `count` of such a cell is 1, or -1 in a difference. */
TAMIS_FN bool tamis__iblt_is_one(tamis_iblt_cell cell) {
    return (cell.count == 1 || cell.count == UINT64_MAX) &&
           cell.checks == tamis__iblt_check(cell.keys);
}

/* Cells of a hash: the chain of classic, a step for every subtable. */
TAMIS_FN uint64_t tamis__iblt_next(tamis_iblt t, uint64_t *chain, unsigned subtable) {
    const uint64_t side = t.cells / t.hashes;
    return subtable * side + tamis__chain_next(chain, side);
}

/* `by` is 1, or UINT64_MAX to remove. */
void tamis__iblt_add(tamis_iblt, uint64_t hash, uint64_t by);
void tamis__iblt_merge(tamis_iblt into, tamis_iblt from);

/* Whether it may be removed: every cell of it must hold another hash too, or this one alone. */
bool tamis__iblt_can_leave(tamis_iblt, uint64_t hash);

/* The sums of one subtable: every subtable has the same, as every hash is once in each. */
tamis_iblt_cell tamis__iblt_total(tamis_iblt, unsigned subtable);

/* TAMIS_CORRUPT for what no adds, removes and merges make: subtables that do not agree, or a
 * non-empty cell without a hash. */
tamis_status tamis__iblt_audit(tamis_iblt);

/* What only one of two tables has. Nothing is reported before all is done, because only then it
 * shows whether the tables contradict themselves. */
typedef struct tamis_peel {
    tamis_iblt rest; /* first minus second; a cell keeps the hash found in it */
    uint8_t *state;  /* of each cell */
    uint8_t *queue;  /* cells that may hold one hash, 8 bytes each */
    uint64_t queued;
    uint64_t found;
} tamis_peel;

enum { TAMIS_IBLT_PEEL = TAMIS_IBLT_CELL + 8 + 1 }; /* of scratch for a cell, zeroed */

/* TAMIS_OK: all was found. TAMIS_PARTIAL: what was found is right, but not all. TAMIS_INVALID: a
 * key was added more than once. TAMIS_CORRUPT: no two sets have these tables. */
tamis_status tamis__peel(tamis_peel *, tamis_iblt first, tamis_iblt second, uint8_t *scratch);

/* Was a hash found in cell i? Then which, and is it the first table that has it? */
bool tamis__peel_at(const tamis_peel *, uint64_t i, uint64_t *hash, bool *is_first);

#endif
