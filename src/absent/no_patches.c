/* SPDX-License-Identifier: MIT */
/* In place of file/patch.c, in small shared libraries: no kind needs patches, and whoever does asks
 * for them. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include "base/status.h"
#include "tamis_parts.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "this build has no patches");
}

tamis_status tamis_patch_make(const void *base, size_t base_size, const void *result,
                              size_t result_size, struct tamis_patch_info *info,
                              tamis_write_fn *put, void *ctx) {
    return refuse();
}

tamis_status tamis_patch_get_info(const void *patch, size_t patch_size,
                                  struct tamis_patch_info *info) {
    return refuse();
}

tamis_status tamis_patch_fits(const void *base, size_t base_size,
                              const struct tamis_patch_info *info) {
    return refuse();
}

tamis_status tamis_patch_apply(const void *base, size_t base_size, const void *patch,
                               size_t patch_size, void *result, size_t result_size) {
    return refuse();
}
