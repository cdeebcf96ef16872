/* SPDX-License-Identifier: MIT */
/* For ribbon.c and ribbon_avx512.c: one key. */
#ifndef TAMIS_KINDS_RIBBON_H
#define TAMIS_KINDS_RIBBON_H

#include "cpu/cpu.h"
#include "kinds/kind.h"

#if TAMIS_HAS_X86
tamis_one tamis__ribbon_one_avx512(const uint64_t word[]);
#endif

#endif
