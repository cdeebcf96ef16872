/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: MD5 (RFC 1321), by which Squid names its objects. Here it protects
 * nothing; it only spreads keys. */
#ifndef TAMIS_FOREIGN_MD5_H
#define TAMIS_FOREIGN_MD5_H

#include "tamis.h"

enum { TAMIS_MD5_BYTES = 16 };

/* Of the concatenated parts. */
void tamis__md5(const struct tamis_key *parts, size_t n, uint8_t digest[TAMIS_MD5_BYTES]);

#endif
