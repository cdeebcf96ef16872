/* SPDX-License-Identifier: MIT */
/* In place of build/page_policy.c, in small shared libraries: no kind needs pages, and whoever does
 * asks for them. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include "base/status.h"
#include "tamis_pages.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "this build has no pages");
}

tamis_status tamis_page_policy_create(tamis_page_policy **policy, const char *spec,
                                      const struct tamis_options *options) {
    *policy = NULL;
    return refuse();
}

void tamis_page_policy_free(tamis_page_policy *policy) {
}

const char *tamis_page_policy_name(const tamis_page_policy *policy) {
    return "";
}

tamis_status tamis_page_make(const tamis_page_policy *policy, const struct tamis_key *keys,
                             size_t n, tamis_write_fn *put, void *ctx) {
    return refuse();
}

bool tamis_page_has(const tamis_page_policy *policy, const void *page, size_t size, const void *key,
                    size_t len) {
    return true; /* maybe */
}
