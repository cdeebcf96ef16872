/* SPDX-License-Identifier: MIT */
/* Only for floor.c and its kernels. */
#ifndef TAMIS_BENCH_FLOOR_H
#define TAMIS_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

enum { FLOOR_GROUP = 128 }; /* keys whose lines are computed together */

/* Mixes a group of keys with an odd factor and scales the upper halves to `lines` < 2^32. */
typedef void floor_place(const uint64_t *keys, uint64_t lines, uint64_t factor, uint32_t *line);

/* NULL where the machine lacks the instructions. */
floor_place *floor_place_avx512(void);

#endif
