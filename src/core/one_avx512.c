/* SPDX-License-Identifier: MIT */
/* Queries for one integer, for AVX-512. */
#include "core/one.h"

#ifdef __AVX512BITALG__
TAMIS_ONE_TABLE(tamis__one_avx512)
#endif
