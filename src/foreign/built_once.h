/* SPDX-License-Identifier: MIT */
/* For kinds of other systems that are built once: the query that they share. */
#ifndef TAMIS_FOREIGN_BUILT_ONCE_H
#define TAMIS_FOREIGN_BUILT_ONCE_H

#include "kinds/kind.h"

/* query: hashes keys as the origin does (build->whole) and looks the hashes up. A key of a length
 * that cannot be added is not a member. */
void tamis__query_built(const tamis_body *, tamis_batch, uint8_t *hit);

#endif
