/* SPDX-License-Identifier: MIT */
/* For core: the two halves of the gate, as handles pass them. */
#ifndef TAMIS_CORE_GATE_H
#define TAMIS_CORE_GATE_H

#include "core/filter.h"

/* The first half; makes a handle that has its sizes but no bytes yet. `total` is the size of the
 * whole image. */
tamis_status tamis__gate_begin(tamis **, const uint8_t *header, uint64_t total,
                               const struct tamis_options *);

/* The second half: payload and notes of the handle, or only the notes of a trusted image. */
tamis_status tamis__gate_check(const tamis *, const uint8_t *header);

/* Hands over the filter, or frees it when `rc` is a failure. Returns `rc`. */
tamis_status tamis__gate_end(tamis **, tamis *, tamis_status rc);

#endif
