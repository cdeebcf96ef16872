/* SPDX-License-Identifier: MIT */
/* For core, file and tests: the notes of an image.
 *
 * Packed as they are stored: name NUL value NUL name NUL value NUL ..., names in strictly ascending
 * order, so that equal notes are equal bytes. */
#ifndef TAMIS_FILE_NOTES_H
#define TAMIS_FILE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

enum { TAMIS_NOTES_MAX_BYTES = 1 << 20, TAMIS_NOTE_MAX_NAME = 64 };

bool tamis__note_name_is_legal(const char *name);
bool tamis__note_value_is_legal(const char *value);

/* The gate's check of packed notes. */
bool tamis__notes_are_legal(const char *notes, size_t size);

/* Steps through valid notes: start with *at = 0; false at the end. */
bool tamis__notes_next(const char *notes, size_t size, size_t *at, const char **name,
                       const char **value);

/* Packs `notes` with `name` set to `value` (or removed, when that is NULL) into `out`, which may be
 * NULL to compute the size. Returns the size. */
size_t tamis__notes_with(const char *notes, size_t size, const char *name, const char *value,
                         char *out);

#endif
