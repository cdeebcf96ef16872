/* SPDX-License-Identifier: MIT */
/* gcs: the portable round again, for processors with BMI2. */
#include "kinds/gcs.h"

#ifdef __AVX2__
/* Shifts by any number are one instruction instead of three. */
static void next_round(const uint8_t *bytes, unsigned rice, tamis_gcs_asked *q) {
    tamis__gcs_plain_round(bytes, rice, q);
}

tamis_gcs_round *const tamis__gcs_avx2 = next_round;
#endif
