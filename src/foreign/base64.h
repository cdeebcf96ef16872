/* SPDX-License-Identifier: MIT */
/* Formats may include this: base64 of RFC 4648, with padding, in its two alphabets. */
#ifndef TAMIS_FOREIGN_BASE64_H
#define TAMIS_FOREIGN_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAMIS_BASE64_URL, TAMIS_BASE64_STANDARD }; /* the last two letters: -_ or +/ */

/* Bytes in so many letters; false when no text of that length and end is base64. */
bool tamis__base64_size(const uint8_t *text, uint64_t letters, uint64_t *bytes);

/* Four letters become up to three bytes. Returns how many, 0 when they are no base64: other
 * letters, padding that is not `is_last`, or bits left over that are not 0. */
int tamis__base64_get(const uint8_t text[4], int alphabet, bool is_last, uint8_t bytes[3]);

/* One to three bytes become four letters. */
void tamis__base64_put(const uint8_t *bytes, size_t n, int alphabet, uint8_t text[4]);

#endif
