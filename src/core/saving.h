/* SPDX-License-Identifier: MIT */
/* For core and build: saves and reads filters, for callers with more than a path. */
#ifndef TAMIS_CORE_SAVING_H
#define TAMIS_CORE_SAVING_H

#include "core/filter.h"
#include "file/replace.h"
#include "tamis_edit.h"

/* Who may read a file with this hasher. */
enum tamis_readers tamis__readers(const tamis_hasher *);

tamis_status tamis__save(const tamis *, tamis_goal);
tamis_status tamis__join_at(tamis_goal, tamis_next_shard *next, void *ctx);

/* Where a filter that replaces the file of an edit is saved. */
tamis_goal tamis__edit_goal(tamis_edit *);

/* Reads an image of `size` bytes from an open file, at its offset; `path` is for error messages. */
tamis_status tamis__read_from(tamis **, int fd, uint64_t size, const char *path,
                              const struct tamis_options *);

#endif
