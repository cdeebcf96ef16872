/* SPDX-License-Identifier: MIT */
/* For kinds of other systems: SHA-256 (FIPS 180-4), for formats that are hashed whole. */
#ifndef TAMIS_FOREIGN_SHA256_H
#define TAMIS_FOREIGN_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { TAMIS_SHA256_BYTES = 32 };

void tamis__sha256(const void *bytes, size_t size, uint8_t digest[TAMIS_SHA256_BYTES]);

/* The digest of the digest, as in Bitcoin. */
void tamis__sha256_twice(const void *bytes, size_t size, uint8_t digest[TAMIS_SHA256_BYTES]);

#endif
