/* SPDX-License-Identifier: MIT */
/* For the whole library: which name somebody may have meant, for "did you mean". */
#ifndef TAMIS_BASE_SLIPS_H
#define TAMIS_BASE_SLIPS_H

#include "tamis.h"

/* The nearest name so far to what was typed; start with {.typed = word}. `name` stays NULL while
 * none is so near that the word may be a slip of the hand. */
typedef struct tamis_nearest {
    const char *typed, *name;
    size_t distance;
} tamis_nearest;

void tamis__nearest_try(tamis_nearest *nearest, const char *name);

#endif
