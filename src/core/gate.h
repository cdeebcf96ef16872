/* SPDX-License-Identifier: MIT */
/* Core may include this: the two halves of the gate, as handles pass them. */
#ifndef TAMIS_CORE_GATE_H
#define TAMIS_CORE_GATE_H

#include "core/filter.h"

/* The first half, and a handle that knows its sizes but has no bytes yet. `total` is the size of
 * the whole image. */
tamis_status tamis__gate_begin(tamis **, const uint8_t *header, uint64_t total,
                               const struct tamis_options *);

/* The second half: payload and notes, where the handle has them now; the notes alone of an image
 * that is trusted. */
tamis_status tamis__gate_check(const tamis *, const uint8_t *header);

/* The filter is handed over, or freed when `rc` is a failure, which is returned. */
tamis_status tamis__gate_end(tamis **, tamis *, tamis_status rc);

#endif
