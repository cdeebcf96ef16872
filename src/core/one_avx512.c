/* SPDX-License-Identifier: MIT */
/* One key through a handle, for AVX-512. */
#include "core/one.h"

#ifdef __AVX512BITALG__
TAMIS_ONE_TABLE(tamis__one_avx512)
#endif
