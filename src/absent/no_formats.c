/* SPDX-License-Identifier: MIT */
/* In place of core/import_export.c and what it reads, in small shared libraries without formats. */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is refused is not looked at */

#include "base/status.h"
#include "tamis_formats.h"

static tamis_status refuse(void) {
    return tamis__fail(TAMIS_UNSUPPORTED, "this build has no formats of other systems");
}

size_t tamis_format_count(void) {
    return 0;
}

bool tamis_format_at(size_t i, struct tamis_format_info *info) {
    return false;
}

bool tamis_format_named(const char *name, struct tamis_format_info *info) {
    return false;
}

tamis_status tamis_format_scan(const char *format, const void *bytes, size_t size,
                               tamis_finder *each, void *ctx) {
    return refuse();
}

tamis_status tamis_format_scan_from(const char *format, tamis_reader *read, void *read_ctx,
                                    uint64_t size, tamis_finder *each, void *ctx) {
    return refuse();
}

tamis_status tamis_import(tamis **filter, const char *format, const void *bytes, size_t size) {
    *filter = NULL;
    return refuse();
}

tamis_status tamis_import_with(tamis **filter, const char *format, const void *bytes, size_t size,
                               const struct tamis_options *options) {
    *filter = NULL;
    return refuse();
}

tamis_status tamis_import_from(tamis **filter, const char *format, tamis_reader *read, void *ctx,
                               uint64_t size, const struct tamis_options *options) {
    *filter = NULL;
    return refuse();
}

tamis_status tamis_export(const tamis *filter, const char *format, tamis_write_fn *put, void *ctx) {
    return refuse();
}

size_t tamis_encode(const char *encoding, const char *text, size_t len, void *bytes, size_t room) {
    refuse();
    return SIZE_MAX;
}

const char *tamis_encoding_at(size_t i) {
    return NULL;
}

uint64_t tamis_parquet_bytes(const char *writer, uint64_t keys, double fpr) {
    refuse();
    return 0;
}

tamis_status tamis_bip158_hash(const tamis *filter, uint8_t hash[32]) {
    return refuse();
}

tamis_status tamis_bip158_header(const tamis *filter, const uint8_t previous[32],
                                 uint8_t header[32]) {
    return refuse();
}
