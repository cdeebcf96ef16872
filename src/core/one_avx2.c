/* SPDX-License-Identifier: MIT */
/* One key through a handle, for AVX2. */
#include "core/one.h"

#ifdef __AVX2__
TAMIS_ONE_TABLE(tamis__one_avx2)
#endif
