/* SPDX-License-Identifier: MIT */
/* For formats: base64 of RFC 4648, with padding, in its two alphabets. */
#ifndef TAMIS_FOREIGN_BASE64_H
#define TAMIS_FOREIGN_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAMIS_BASE64_URL, TAMIS_BASE64_STANDARD }; /* the last two letters: -_ or +/ */

/* Bytes in `letters` letters; false when no base64 text has that length and end. */
bool tamis__base64_size(const uint8_t *text, uint64_t letters, uint64_t *bytes);

/* Decodes four letters to up to three bytes. Returns how many, 0 when they are not base64: other
 * letters, padding that is not `is_last`, or leftover bits that are not 0. */
int tamis__base64_get(const uint8_t text[4], int alphabet, bool is_last, uint8_t bytes[3]);

/* Encodes one to three bytes as four letters. */
void tamis__base64_put(const uint8_t *bytes, size_t n, int alphabet, uint8_t text[4]);

#endif
