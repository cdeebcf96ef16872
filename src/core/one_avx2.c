/* SPDX-License-Identifier: MIT */
/* Queries for one integer, for AVX2. */
#include "core/one.h"

#ifdef __AVX2__
TAMIS_ONE_TABLE(tamis__one_avx2)
#endif
