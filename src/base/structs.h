/* SPDX-License-Identifier: MIT */
/* Everyone may include this: structs that cross the border to a caller whose header may be older
 * (a shorter struct) or newer (a longer one) than ours. The first field is their size. */
#ifndef TAMIS_BASE_STRUCTS_H
#define TAMIS_BASE_STRUCTS_H

#include "tamis.h"

/* TAMIS_INVALID with a sentence when struct_size cannot be right. `name` is the type without
 * its prefix. NULL is allowed. For calls that must know before they change anything. */
tamis_status tamis__check_struct(const void *theirs, const char *name);

/* Options in our layout: what the caller's header did not have yet is zero, and what ours does not
 * know must be. NULL gives the defaults, all zero. */
tamis_status tamis__read_struct(const void *theirs, void *ours, size_t our_size, const char *name);

/* Copies a result out, up to the end of the caller's struct, whose fields that we do not know
 * become zero. struct_size stays the caller's. */
tamis_status tamis__fill_struct(void *theirs, const void *ours, size_t our_size, const char *name);

#endif
