/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: Bob Jenkins's lookup3, of Hadoop. */
#ifndef TAMIS_FOREIGN_LOOKUP3_H
#define TAMIS_FOREIGN_LOOKUP3_H

#include "tamis.h"

uint32_t tamis__lookup3(const struct tamis_key *, uint32_t init);

#endif
