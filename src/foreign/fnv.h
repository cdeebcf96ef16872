/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: FNV-1, 64 bits, by Fowler, Noll and Vo. */
#ifndef TAMIS_FOREIGN_FNV_H
#define TAMIS_FOREIGN_FNV_H

#include "tamis.h"

/* Each byte is mixed in after the multiplication: not FNV-1a, which does it the other way round. */
uint64_t tamis__fnv1_64(const struct tamis_key *);

#endif
