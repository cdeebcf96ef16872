/* SPDX-License-Identifier: MIT */
/* held.h: only the files in cli/ include this. Large images that are mapped while the system keeps
 * others from changing them. */
#ifndef TAMIS_CLI_IMAGES_HELD_H
#define TAMIS_CLI_IMAGES_HELD_H

#include <stddef.h>

struct held;

/* The bytes of the file at `path`, as they are until held_close, whatever others do. NULL, without
 * a word, where the file is small or the system does not hold it: then it is to be read. `path` is
 * kept. */
struct held *held_open(const char *path, const void **bytes, size_t *size);
void held_close(struct held *held); /* NULL is fine */

#endif
