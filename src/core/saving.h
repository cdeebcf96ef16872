/* SPDX-License-Identifier: MIT */
/* Core may include this: filters to files and back, for those that know more than a path. */
#ifndef TAMIS_CORE_SAVING_H
#define TAMIS_CORE_SAVING_H

#include "core/filter.h"
#include "file/replace.h"
#include "tamis_edit.h"

/* Who may read a file with this hasher inside. */
enum tamis_readers tamis__readers(const tamis_hasher *);

tamis_status tamis__save(const tamis *, tamis_goal);
tamis_status tamis__join_at(tamis_goal, tamis_next_shard *next, void *ctx);

/* Where a filter goes that replaces the file of an edit. */
tamis_goal tamis__edit_goal(tamis_edit *);

/* The image of `size` bytes in a file that is open, from where it stands; `path` is for
 * sentences. */
tamis_status tamis__read_from(tamis **, int fd, uint64_t size, const char *path,
                              const struct tamis_options *);

#endif
