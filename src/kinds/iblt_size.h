/* SPDX-License-Identifier: MIT */
/* For the files of iblt and its tests: iblt.c, iblt_size.c.
 *
 * How many keys differ between two sets, before anything is listed: an estimator after the cells of
 * a table, updated with them. */
#ifndef TAMIS_KINDS_IBLT_SIZE_H
#define TAMIS_KINDS_IBLT_SIZE_H

#include "kinds/iblt_table.h"

enum { TAMIS_SIZED_BY_NONE, TAMIS_SIZED_BY_SIGNS, TAMIS_SIZED_BY_STRATA, TAMIS_SIZED_WAYS };

typedef struct tamis_sizer {
    uint64_t way;
    uint64_t counters; /* of signs; 0 otherwise */
    uint8_t *bytes;
} tamis_sizer;

uint64_t tamis__sizer_bytes(uint64_t way, uint64_t counters);

void tamis__sizer_add(tamis_sizer, uint64_t hash, uint64_t by);
bool tamis__sizer_can_leave(tamis_sizer, uint64_t hash);
void tamis__sizer_merge(tamis_sizer into, tamis_sizer from);

/* `total` is what a subtable of the table holds: the estimator must hold the same. */
tamis_status tamis__sizer_audit(tamis_sizer, tamis_iblt_cell total);

/* TAMIS_UNSUPPORTED without an estimator, TAMIS_SATURATED when even the smallest sample is too
 * large. */
tamis_status tamis__sizer_compare(tamis_sizer first, tamis_sizer second, struct tamis_estimate *);

#endif
