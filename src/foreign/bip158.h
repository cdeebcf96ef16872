/* SPDX-License-Identifier: MIT */
/* core/import_export.c may include this: what block filters have beside answers. */
#ifndef TAMIS_FOREIGN_BIP158_H
#define TAMIS_FOREIGN_BIP158_H

#include "kinds/kind.h"

/* The filter's hash, and what it is chained to the one before with. */
void tamis__bip158_hash(const tamis_body *, uint8_t hash[32]);
void tamis__bip158_header(const tamis_body *, const uint8_t previous[32], uint8_t header[32]);

#endif
