/* SPDX-License-Identifier: MIT */
/* For core and file: reading files. Every failure sets an error message that names the path. */
#ifndef TAMIS_FILE_DISK_H
#define TAMIS_FILE_DISK_H

#include "tamis.h"

/* Reports a failed system call: "PATH: WHAT: reason". */
tamis_status tamis__io_error(const char *path, const char *what);

/* Opens a regular file for reading and returns its size. */
tamis_status tamis__disk_open(const char *path, int *fd, uint64_t *size);

/* Reads exactly `size` bytes from the current offset. */
tamis_status tamis__disk_read(int fd, const char *path, void *bytes, uint64_t size);

/* After all of it was read: TAMIS_IO when the file has grown. */
tamis_status tamis__disk_is_read(int fd, const char *path);

/* Maps a whole file for reading. */
tamis_status tamis__disk_map(int fd, const char *path, uint64_t size, void **map);

/* Asks the system for large pages; a hint. */
void tamis__advise_large(void *start, size_t size);

void tamis__disk_unmap(void *map, size_t size);

void tamis__disk_close(int fd);

#endif
