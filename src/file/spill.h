/* SPDX-License-Identifier: MIT */
/* For core: data that does not fit in memory. */
#ifndef TAMIS_FILE_SPILL_H
#define TAMIS_FILE_SPILL_H

#include "file/temp.h"
#include "tamis.h"

/* An unnamed file: gone when the process ends, however it ends. The first write opens it. */
typedef struct tamis_spill {
    int fd;
    char dir[TAMIS_MAX_PATH];
    char name[TAMIS_MAX_PATH]; /* only when the system failed to remove it */
} tamis_spill;

/* In `dir`; NULL: in $TMPDIR, or /tmp. When it is likely to be needed, a directory that cannot hold
 * files is refused now, not after hours. */
tamis_status tamis__spill_start(tamis_spill *, const char *dir, bool is_likely);
tamis_status tamis__spill_write(tamis_spill *, uint64_t at, const void *bytes, uint64_t size);

/* Reads what was written. Any number of threads may read and write different ranges, once the first
 * write has returned. */
tamis_status tamis__spill_read(const tamis_spill *, uint64_t at, void *bytes, uint64_t size);
void tamis__spill_end(tamis_spill *);

#endif
