/* SPDX-License-Identifier: MIT */
/* Core, file and tests may include this: the notes of an image.
 *
 * Packed as they are stored: name NUL value NUL name NUL value NUL ..., names in strictly
 * ascending order, so that the same notes are always the same bytes. */
#ifndef TAMIS_FILE_NOTES_H
#define TAMIS_FILE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

enum { TAMIS_NOTES_MAX_BYTES = 1 << 20, TAMIS_NOTE_MAX_NAME = 64 };

bool tamis__note_name_is_legal(const char *name);
bool tamis__note_value_is_legal(const char *value);

/* The gate's question about packed notes from outside. */
bool tamis__notes_are_legal(const char *notes, size_t size);

/* Steps through legal notes: start with *at = 0; false at the end. */
bool tamis__notes_next(const char *notes, size_t size, size_t *at, const char **name,
                       const char **value);

/* Packs `notes` with `name` set to `value` (or removed, when that is NULL) into `out`, which may
 * be NULL to learn the size. Returns the size. */
size_t tamis__notes_with(const char *notes, size_t size, const char *name, const char *value,
                         char *out);

#endif
