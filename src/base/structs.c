/* SPDX-License-Identifier: MIT */
/* Structs that begin with their size, and so may grow. */
#include "base/structs.h"

#include <string.h>

#include "base/status.h"

/* Far above any struct of ours: what says more was never initialised. */
enum { MAX_STRUCT = 4096 };

static size_t size_of(const void *theirs) {
    size_t size;
    memcpy(&size, theirs, sizeof size);
    return size;
}

tamis_status tamis__check_struct(const void *theirs, const char *name) {
    if (!theirs) return TAMIS_OK;
    const size_t size = size_of(theirs);
    if (size >= sizeof size && size <= MAX_STRUCT) return TAMIS_OK;
    return tamis__fail(TAMIS_INVALID, "%sstruct_size is %zu: set it to sizeof(struct tamis_%s)",
                       strstr(name, "options") ? "options." : "", size, name);
}

tamis_status tamis__read_struct(const void *theirs, void *ours, size_t our_size, const char *name) {
    memset(ours, 0, our_size);
    const tamis_status rc = tamis__check_struct(theirs, name);
    if (rc || !theirs) return rc;
    const size_t size = size_of(theirs);
    memcpy(ours, theirs, size < our_size ? size : our_size);
    for (size_t i = our_size; i < size; i++)
        if (((const uint8_t *)theirs)[i])
            return tamis__fail(TAMIS_INVALID, "options use a field that this version, %s, lacks",
                               tamis_version());
    return TAMIS_OK;
}

tamis_status tamis__fill_struct(void *theirs, const void *ours, size_t our_size, const char *name) {
    const tamis_status rc = tamis__check_struct(theirs, name);
    if (rc || !theirs) return rc;
    const size_t size = size_of(theirs), shared = size < our_size ? size : our_size;
    memcpy(theirs, ours, shared);
    memset((uint8_t *)theirs + shared, 0, size - shared);
    memcpy(theirs, &size, sizeof size);
    return TAMIS_OK;
}
