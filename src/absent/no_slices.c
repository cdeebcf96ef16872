/* SPDX-License-Identifier: MIT */
/* In place of core/slice.c, in small shared libraries: no kind needs slices of images, and whoever
 * does asks for them. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include "base/status.h"
#include "tamis_engine.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "this build has no slices");
}

tamis_status tamis_slice_find(struct tamis_slice *slice, const void *header, uint64_t image_size,
                              const struct tamis_options *options, const void *key, size_t len) {
    return refuse();
}

bool tamis_slice_has(const struct tamis_slice *slice, const void *bytes) {
    return true; /* maybe */
}

tamis_status tamis_slice_note(const void *notes, size_t size, const char *name,
                              const char **value) {
    *value = NULL;
    return refuse();
}
