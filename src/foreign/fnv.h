/* SPDX-License-Identifier: MIT */
/* Kinds of other systems may include this: FNV-1, 64 bits, by Fowler, Noll and Vo. */
#ifndef TAMIS_FOREIGN_FNV_H
#define TAMIS_FOREIGN_FNV_H

#include "tamis.h"

/* Each byte is multiplied first and mixed in after: not FNV-1a, which does it the other way. */
uint64_t tamis__fnv1_64(const struct tamis_key *);

#endif
