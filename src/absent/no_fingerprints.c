/* SPDX-License-Identifier: MIT */
/* In place of core/fingerprints.c, in small shared libraries without the kind fingerprint. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include "base/status.h"
#include "tamis_special.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "kind 30 (fingerprint) is not part of this build");
}

tamis_status tamis_fingerprints_create(tamis_fingerprints **maker, uint64_t bits,
                                       const struct tamis_options *options) {
    *maker = NULL;
    return refuse();
}

tamis_status tamis_fingerprints_add(tamis_fingerprints *maker, const char *id, size_t id_len,
                                    const void *print, size_t print_bytes) {
    return refuse();
}

tamis_status tamis_fingerprints_finish(tamis_fingerprints *maker, tamis **filter) {
    *filter = NULL;
    return refuse();
}

void tamis_fingerprints_free(tamis_fingerprints *maker) {
    /* There is none but NULL. */
}

uint64_t tamis_fingerprint_count(const tamis *filter) {
    return 0;
}

uint64_t tamis_fingerprint_bits(const tamis *filter) {
    return 0;
}

const char *tamis_fingerprint_at(const tamis *filter, uint64_t row, const void **print) {
    return NULL;
}

tamis_status tamis_fingerprints_similar(const tamis *filter, const void *print, size_t print_bytes,
                                        double min, tamis_match_fn *take, void *ctx,
                                        struct tamis_search_stats *searched) {
    return refuse();
}

tamis_status tamis_fingerprints_nearest(const tamis *filter, const void *print, size_t print_bytes,
                                        double min, struct tamis_match *matches, size_t room,
                                        size_t *found, struct tamis_search_stats *searched) {
    *found = 0;
    return refuse();
}

tamis_status tamis_fingerprints_screen(const tamis *filter, const void *print, size_t print_bytes,
                                       tamis_match_fn *take, void *ctx,
                                       struct tamis_search_stats *searched) {
    return refuse();
}
