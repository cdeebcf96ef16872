/* SPDX-License-Identifier: MIT */
/* For core/import_export.c: what block filters have besides answers. */
#ifndef TAMIS_FOREIGN_BIP158_H
#define TAMIS_FOREIGN_BIP158_H

#include "kinds/kind.h"

/* The filter's hash, and the header that chains it to the previous one. */
void tamis__bip158_hash(const tamis_body *, uint8_t hash[32]);
void tamis__bip158_header(const tamis_body *, const uint8_t previous[32], uint8_t header[32]);

#endif
