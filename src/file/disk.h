/* SPDX-License-Identifier: MIT */
/* Core and file may include this: files that are read. Every failure leaves a sentence that names
 * the path. */
#ifndef TAMIS_FILE_DISK_H
#define TAMIS_FILE_DISK_H

#include "tamis.h"

/* The sentence of a system call that failed just now: "PATH: WHAT: reason". */
tamis_status tamis__io_error(const char *path, const char *what);

/* Opens a regular file for reading and tells its size. */
tamis_status tamis__disk_open(const char *path, int *fd, uint64_t *size);

/* Reads exactly `size` bytes from where the file stands. */
tamis_status tamis__disk_read(int fd, const char *path, void *bytes, uint64_t size);

/* After all of it was read: TAMIS_IO with a sentence when there is more by now. */
tamis_status tamis__disk_is_read(int fd, const char *path);

/* Maps a whole file for reading. */
tamis_status tamis__disk_map(int fd, const char *path, uint64_t size, void **map);

/* Asks the system for large pages; where it has none, nothing happens. */
void tamis__advise_large(void *start, size_t size);

void tamis__disk_unmap(void *map, size_t size);

void tamis__disk_close(int fd);

#endif
