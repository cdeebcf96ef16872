/* SPDX-License-Identifier: MIT */
/* Kinds of other systems may include this: MD5 (RFC 1321), which Squid names its objects by. It
 * keeps nothing secret here and proves nothing; it only spreads keys. */
#ifndef TAMIS_FOREIGN_MD5_H
#define TAMIS_FOREIGN_MD5_H

#include "tamis.h"

enum { TAMIS_MD5_BYTES = 16 };

/* Of the parts one behind the other. */
void tamis__md5(const struct tamis_key *parts, size_t n, uint8_t digest[TAMIS_MD5_BYTES]);

#endif
