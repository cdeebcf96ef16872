/* SPDX-License-Identifier: MIT */
/* The slots of a quotient filter: the same functions as slots.c, with the bit instructions that
 * come with AVX2. */
#include "kinds/runs.h"

#ifdef __AVX2__
TAMIS_SLOTS_OPS
const tamis_slots_ops tamis__slots_avx2 = TAMIS_SLOTS_OPS_LIST;
#endif
